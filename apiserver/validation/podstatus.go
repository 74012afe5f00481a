package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// PodStatus holds the rules of a write to pods/status.
func PodStatus(pod, old *corev1.Pod) field.ErrorList {
	p := field.NewPath("status")
	status, was := &pod.Status, &old.Status
	errs := concat(metaUpdate(&pod.ObjectMeta, &old.ObjectMeta), annotationUpdates(pod, old),
		each(status.Conditions, field.NewPath("metadata", "conditions"), podCondition), // sic
		refuse(pod.Spec.NodeName != old.Spec.NodeName, field.Forbidden(p.Child("nodeName"), "may not be changed directly")))
	if status.NominatedNodeName != was.NominatedNodeName && status.NominatedNodeName != "" {
		errs = append(errs, named(status.NominatedNodeName, p.Child("nominatedNodeName"), apivalidation.NameIsDNSSubdomain)...)
	}
	return concat(errs,
		unchanged(status.QOSClass, was.QOSClass, p.Child("qosClass")),
		staysTerminated(status.ContainerStatuses, was.ContainerStatuses, old.Spec.Containers, old.Spec.RestartPolicy, p.Child("containerStatuses")),
		staysTerminated(status.InitContainerStatuses, was.InitContainerStatuses, old.Spec.InitContainers, old.Spec.RestartPolicy, p.Child("initContainerStatuses")),
		staysTerminated(status.EphemeralContainerStatuses, was.EphemeralContainerStatuses, nil, corev1.RestartPolicyNever, p.Child("ephemeralContainerStatuses")),
		claimStatuses(pod, p.Child("resourceClaimStatuses")),
		podIPs(status, p.Child("podIPs")),
		hostIPs(status, p.Child("hostIPs")),
		containerUsers(status.ContainerStatuses, pod.Spec.OS, p.Child("containerStatuses")),
		containerUsers(status.InitContainerStatuses, pod.Spec.OS, p.Child("initContainerStatuses")),
		containerUsers(status.EphemeralContainerStatuses, pod.Spec.OS, p.Child("ephemeralContainerStatuses")),
		resourceHealths(status.ContainerStatuses, pod.Spec.Containers, p.Child("containerStatuses")),
		resourceHealths(status.InitContainerStatuses, pod.Spec.InitContainers, p.Child("initContainerStatuses")),
		each(status.EphemeralContainerStatuses, p.Child("ephemeralContainerStatuses"), func(s *corev1.ContainerStatus, p *field.Path) field.ErrorList {
			return refuse(len(s.AllocatedResourcesStatus) > 0, field.Forbidden(p.Child("allocatedResourcesStatus"), "must not be specified in container status"))
		}))
}

func podCondition(c *corev1.PodCondition, p *field.Path) field.ErrorList {
	switch c.Type {
	case corev1.PodScheduled, corev1.PodReady, corev1.PodInitialized:
		return nil
	}
	return qualifiedName(string(c.Type), p.Child("Type"))
}

// staysTerminated refuses to bring back a container that will not be restarted.
func staysTerminated(now, old []corev1.ContainerStatus, containers []corev1.Container, policy corev1.RestartPolicy, p *field.Path) field.ErrorList {
	if policy == corev1.RestartPolicyAlways {
		return nil
	}
	return each(old, p, func(was *corev1.ContainerStatus, p *field.Path) field.ErrorList {
		ended := was.State.Terminated
		if ended == nil || mayRestart(was.Name, ended.ExitCode, containers, policy) {
			return nil
		}
		var errs field.ErrorList
		for _, is := range now {
			errs = append(errs, refuse(is.Name == was.Name && is.State.Terminated == nil,
				field.Forbidden(p.Child("state"), "may not be transitioned to non-terminated state"))...)
		}
		return errs
	})
}

// mayRestart lets a container's own policy and rules go before the pod's.
func mayRestart(name string, exitCode int32, containers []corev1.Container, policy corev1.RestartPolicy) bool {
	for _, ct := range containers {
		if ct.Name != name || ct.RestartPolicy == nil {
			continue
		}
		if len(ct.RestartPolicyRules) > 0 {
			return true
		}
		policy = corev1.RestartPolicy(*ct.RestartPolicy)
	}
	return policy == corev1.RestartPolicyAlways || (policy == corev1.RestartPolicyOnFailure && exitCode != 0)
}

func claimStatuses(pod *corev1.Pod, p *field.Path) field.ErrorList {
	names, seen := sets.New[string](), sets.New[string]()
	for _, claim := range pod.Spec.ResourceClaims {
		names.Insert(claim.Name)
	}
	return each(pod.Status.ResourceClaimStatuses, p, func(s *corev1.PodResourceClaimStatus, p *field.Path) field.ErrorList {
		at := p.Child("name")
		errs := concat(
			refuse(!names.Has(s.Name), field.Invalid(at, s.Name, "must match the name of an entry in `spec.resourceClaims`")),
			refuse(seen.Has(s.Name), field.Duplicate(at, s.Name)))
		seen.Insert(s.Name)
		if s.ResourceClaimName != nil {
			errs = append(errs, invalids(s.ResourceClaimName, at, apivalidation.NameIsDNSSubdomain(*s.ResourceClaimName, false))...)
		}
		return errs
	})
}

func podIPs(s *corev1.PodStatus, p *field.Path) field.ErrorList {
	ips := make([]string, len(s.PodIPs))
	for i, ip := range s.PodIPs {
		ips[i] = ip.IP
	}
	valid := each(ips, p, func(ip *string, p *field.Path) field.ErrorList { return ipAddress(*ip, p) })
	if len(ips) < 2 {
		return valid
	}
	return concat(valid, dualStack(ips, byFieldName(s.PodIPs), p), repeated(ips, p, func(i int) any { return byFieldName(s.PodIPs[i]) }))
}

func hostIPs(s *corev1.PodStatus, p *field.Path) field.ErrorList {
	if len(s.HostIPs) == 0 {
		return nil
	}
	ips := make([]string, len(s.HostIPs))
	for i, ip := range s.HostIPs {
		ips[i] = ip.IP
	}
	errs := append(refuse(s.HostIP != ips[0], field.Invalid(p.Index(0).Child("ip"), ips[0], "must be equal to `hostIP`")),
		each(ips, p, func(ip *string, p *field.Path) field.ErrorList { return ipAddress(*ip, p) })...)
	if len(ips) < 2 {
		return errs
	}
	return concat(errs, repeated(ips, p, func(i int) any { return byFieldName(s.HostIPs[i]) }), dualStack(ips, byFieldName(s.HostIPs), p))
}

// dualStack lets two addresses stand side by side when they are of two families.
func dualStack(ips []string, shown any, p *field.Path) field.ErrorList {
	both, err := netutils.IsDualStackIPStrings(ips)
	if err != nil {
		return field.ErrorList{field.InternalError(p, fmt.Errorf("failed to check for dual stack with error:%w", err)),
			field.Invalid(p, shown, "may specify no more than one IP for each IP family")}
	}
	return refuse(!both || len(ips) > 2, field.Invalid(p, shown, "may specify no more than one IP for each IP family"))
}

func repeated(values []string, p *field.Path, shown func(int) any) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, v := range values {
		errs = append(errs, refuse(seen.Has(v), field.Duplicate(p.Index(i), shown(i)))...)
		seen.Insert(v)
	}
	return errs
}

func containerUsers(statuses []corev1.ContainerStatus, os *corev1.PodOS, p *field.Path) field.ErrorList {
	return each(statuses, p, func(s *corev1.ContainerStatus, p *field.Path) field.ErrorList {
		if s.User == nil || s.User.Linux == nil {
			return nil
		}
		user, at := s.User.Linux, p.Child("linux")
		if os != nil && os.Name == corev1.Windows {
			return field.ErrorList{field.Forbidden(at, "cannot be set for a windows pod")}
		}
		return concat(userID(&user.UID, at.Child("uid")), groupID(&user.GID, at.Child("gid")),
			each(user.SupplementalGroups, at.Child("supplementalGroups"), groupID))
	})
}

func resourceHealths(statuses []corev1.ContainerStatus, containers []corev1.Container, p *field.Path) field.ErrorList {
	byName := map[string]*corev1.Container{}
	for i := range containers {
		byName[containers[i].Name] = &containers[i]
	}
	return each(statuses, p, func(s *corev1.ContainerStatus, p *field.Path) field.ErrorList {
		return each(s.AllocatedResourcesStatus, p.Child("allocatedResourcesStatus"), func(r *corev1.ResourceStatus, p *field.Path) field.ErrorList {
			errs := allocatedName(r.Name, byName[s.Name], p.Child("name"))
			ids := sets.New[corev1.ResourceID]()
			return append(errs, each(r.Resources, p.Child("resources"), func(h *corev1.ResourceHealth, p *field.Path) field.ErrorList {
				errs := concat(
					supported(h.Health, p.Child("health"), corev1.ResourceHealthStatusHealthy, corev1.ResourceHealthStatusUnhealthy, corev1.ResourceHealthStatusUnknown),
					refuse(ids.Has(h.ResourceID), field.Duplicate(p.Child("resourceID"), h.ResourceID)))
				ids.Insert(h.ResourceID)
				return errs
			})...)
		})
	})
}

// allocatedName checks that a container asked for what its status speaks of.
// Containers that the spec does not know are let through.
func allocatedName(name corev1.ResourceName, ct *corev1.Container, p *field.Path) field.ErrorList {
	if ct == nil {
		return nil
	}
	if !strings.HasPrefix(string(name), "claim:") {
		_, asked := ct.Resources.Requests[name]
		return refuse(!asked, field.Invalid(p, name, "must match one of the container's resource requests"))
	}
	for _, claim := range ct.Resources.Claims {
		key := "claim:" + claim.Name
		if claim.Request != "" {
			key += "/" + claim.Request
		}
		if key == string(name) {
			return nil
		}
	}
	return field.ErrorList{field.Invalid(p, name,
		"must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty")}
}
