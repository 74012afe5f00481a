package validation

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/node/util/sysctl"
)

const (
	maxSysctlLength  = 253
	maxProfileLength = 4095 // PATH_MAX without its terminator
)

var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func (c *podContext) podSecurityContext(p *field.Path) field.ErrorList {
	sc := c.spec.SecurityContext
	share := c.spec.ShareProcessNamespace
	errs := refuse(isTrue(share) && c.spec.HostPID,
		field.Invalid(p.Child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled"))
	if sc == nil {
		return errs
	}
	ids := concat(groupID(sc.FSGroup, p.Child("fsGroup")), userID(sc.RunAsUser, p.Child("runAsUser")),
		groupID(sc.RunAsGroup, p.Child("runAsGroup")),
		each(sc.SupplementalGroups, p.Child("supplementalGroups"), groupID))
	return concat(ids, errs,
		c.sysctls(sc.Sysctls, p.Child("sysctls")),
		when(sc.FSGroupChangePolicy, p.Child("fsGroupChangePolicy"), func(v *corev1.PodFSGroupChangePolicy, p *field.Path) field.ErrorList {
			return supported(*v, p, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)
		}),
		when(sc.SeccompProfile, p.Child("seccompProfile"), seccompProfile),
		when(sc.WindowsOptions, p.Child("windowsOptions"), windowsOptions),
		when(sc.AppArmorProfile, p.Child("appArmorProfile"), appArmorProfile),
		when(sc.SupplementalGroupsPolicy, p.Child("supplementalGroupsPolicy"), func(v *corev1.SupplementalGroupsPolicy, p *field.Path) field.ErrorList {
			return supported(*v, p, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)
		}),
		when(sc.SELinuxChangePolicy, p.Child("seLinuxChangePolicy"), func(v *corev1.PodSELinuxChangePolicy, p *field.Path) field.ErrorList {
			return supported(*v, p, corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive)
		}),
	)
}

func (c *podContext) securityContext(sc *corev1.SecurityContext, p *field.Path) field.ErrorList {
	if sc == nil {
		return nil
	}
	errs := concat(userID(sc.RunAsUser, p.Child("runAsUser")), groupID(sc.RunAsGroup, p.Child("runAsGroup")))
	if sc.ProcMount != nil {
		at := p.Child("procMount")
		errs = append(errs, supported(*sc.ProcMount, at, corev1.DefaultProcMount, corev1.UnmaskedProcMount)...)
		errs = append(errs, refuse(c.sharesHostUsers() && *sc.ProcMount == corev1.UnmaskedProcMount,
			field.Invalid(at, sc.ProcMount, "`hostUsers` must be false to use `Unmasked`"))...)
	}
	return concat(errs,
		when(sc.SeccompProfile, p.Child("seccompProfile"), seccompProfile),
		noEscalation(sc, p),
		when(sc.WindowsOptions, p.Child("windowsOptions"), windowsOptions),
		when(sc.AppArmorProfile, p.Child("appArmorProfile"), appArmorProfile),
	)
}

func noEscalation(sc *corev1.SecurityContext, p *field.Path) field.ErrorList {
	if sc.AllowPrivilegeEscalation == nil || *sc.AllowPrivilegeEscalation {
		return nil
	}
	errs := refuse(isTrue(sc.Privileged),
		field.Invalid(p, byFieldName(sc), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
	if sc.Capabilities == nil {
		return errs
	}
	for _, capability := range sc.Capabilities.Add {
		errs = append(errs, refuse(capability == "CAP_SYS_ADMIN",
			field.Invalid(p, byFieldName(sc), "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))...)
	}
	return errs
}

func userID(id *int64, p *field.Path) field.ErrorList {
	if id == nil {
		return nil
	}
	return invalids(*id, p, validation.IsValidUserID(*id))
}

func groupID(id *int64, p *field.Path) field.ErrorList {
	if id == nil {
		return nil
	}
	return invalids(*id, p, validation.IsValidGroupID(*id))
}

func (c *podContext) sysctls(list []corev1.Sysctl, p *field.Path) field.ErrorList {
	seen := sets.New[string]()
	return each(list, p, func(s *corev1.Sysctl, p *field.Path) field.ErrorList {
		var errs field.ErrorList
		switch at := p.Child("name"); {
		case s.Name == "":
			errs = append(errs, field.Required(at, ""))
		case len(s.Name) > maxSysctlLength || !sysctlName.MatchString(s.Name):
			errs = append(errs, field.Invalid(at, s.Name, fmt.Sprintf("must have at most %d characters and match regex %s", maxSysctlLength, sysctlName)))
		case seen.Has(s.Name):
			errs = append(errs, field.Duplicate(at, s.Name))
		}
		seen.Insert(s.Name)
		return append(errs, c.hostSysctl(s.Name, p.Child("name"))...)
	})
}

// hostSysctl refuses to set what the pod shares with its node.
func (c *podContext) hostSysctl(name string, p *field.Path) field.ErrorList {
	namespace, _, _ := sysctl.GetNamespace(name)
	switch {
	case c.spec.HostNetwork && namespace == sysctl.NetNamespace:
		return field.ErrorList{field.Invalid(p, name, "may not be specified when 'hostNetwork' is true")}
	case c.spec.HostIPC && namespace == sysctl.IPCNamespace:
		return field.ErrorList{field.Invalid(p, name, "may not be specified when 'hostIPC' is true")}
	}
	return nil
}

func seccompProfile(s *corev1.SeccompProfile, p *field.Path) field.ErrorList {
	errs := supported(s.Type, p.Child("type"),
		corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)
	if s.Type == "" {
		errs = field.ErrorList{field.Required(p.Child("type"), "type is required when seccompProfile is set")}
	}
	at := p.Child("localhostProfile")
	switch {
	case s.Type != corev1.SeccompProfileTypeLocalhost:
		errs = append(errs, refuse(s.LocalhostProfile != nil,
			field.Invalid(at, byFieldName(s), "can only be set when seccomp type is Localhost"))...)
	case s.LocalhostProfile == nil:
		errs = append(errs, field.Required(at, "must be set when seccomp type is Localhost"))
	default:
		errs = append(errs, descendingPath(*s.LocalhostProfile, at)...)
	}
	return errs
}

func appArmorProfile(a *corev1.AppArmorProfile, p *field.Path) field.ErrorList {
	at := p.Child("localhostProfile")
	switch a.Type {
	case corev1.AppArmorProfileTypeLocalhost:
		missing := field.ErrorList{field.Required(at, "must be set when AppArmor type is Localhost")}
		if a.LocalhostProfile == nil {
			return missing
		}
		name := *a.LocalhostProfile
		var errs field.ErrorList
		switch trimmed := strings.TrimSpace(name); {
		case trimmed != name:
			errs = append(errs, field.Invalid(at, name, "must not be padded with whitespace"))
		case trimmed == "":
			errs = missing
		}
		return append(errs, refuse(len(name) > maxProfileLength, field.TooLong(at, "", maxProfileLength))...)
	case corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined:
		return refuse(a.LocalhostProfile != nil, field.Invalid(at, a.LocalhostProfile, "can only be set when AppArmor type is Localhost"))
	case "":
		return field.ErrorList{field.Required(p.Child("type"), "type is required when appArmorProfile is set")}
	}
	return supported(a.Type, p.Child("type"), corev1.AppArmorProfileTypeLocalhost,
		corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)
}
