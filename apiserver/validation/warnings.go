package validation

import (
	"crypto/tls"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The functions below are the texts of Warning headers about a kind: what is
// allowed, and yet not likely meant. old is nil on create.

const namesPods = "Pod names and hostnames"

// DeploymentWarnings are the warnings about a Deployment.
func DeploymentWarnings(d, old *appsv1.Deployment) []string {
	var w warnings
	if old == nil {
		w.hostname(d.Name, namesPods)
	}
	if old == nil || !sameValue(d.Spec, old.Spec) {
		w.template(&d.Spec.Template, field.NewPath("spec", "template"))
	}
	return w
}

// ReplicaSetWarnings are the warnings about a ReplicaSet.
func ReplicaSetWarnings(rs, old *appsv1.ReplicaSet) []string {
	var w warnings
	if old == nil {
		w.hostname(rs.Name, namesPods)
	}
	if old == nil || !sameValue(rs.Spec, old.Spec) {
		w.template(&rs.Spec.Template, field.NewPath("spec", "template"))
	}
	return w
}

// ReplicationControllerWarnings are the warnings about a ReplicationController.
func ReplicationControllerWarnings(rc, old *corev1.ReplicationController) []string {
	var w warnings
	if old == nil {
		w.hostname(rc.Name, namesPods)
	}
	if rc.Spec.Template != nil && (old == nil || !sameValue(rc.Spec, old.Spec)) {
		w.template(rc.Spec.Template, field.NewPath("spec", "template"))
	}
	return w
}

// StatefulSetWarnings are the warnings about a StatefulSet.
func StatefulSetWarnings(set, old *appsv1.StatefulSet) []string {
	var w warnings
	p := field.NewPath("spec")
	if old == nil || !sameValue(set.Spec, old.Spec) {
		w.template(&set.Spec.Template, p.Child("template"))
		for i := range set.Spec.VolumeClaimTemplates {
			w.claimSpec(&set.Spec.VolumeClaimTemplates[i].Spec, p.Child("volumeClaimTemplates").Index(i).Child("Spec"))
		}
	}
	if limit := set.Spec.RevisionHistoryLimit; limit != nil && *limit < 0 {
		w.add(p.Child("revisionHistoryLimit"), "a negative value retains all historical revisions; a value >= 0 is recommended")
	}
	return w
}

// DaemonSetWarnings are the warnings about a DaemonSet.
func DaemonSetWarnings(ds, old *appsv1.DaemonSet) []string {
	var w warnings
	if old == nil || !sameValue(ds.Spec, old.Spec) {
		w.template(&ds.Spec.Template, field.NewPath("spec", "template"))
	}
	return w
}

// PodTemplateWarnings are the warnings about a PodTemplate.
func PodTemplateWarnings(t, old *corev1.PodTemplate) []string {
	var w warnings
	if old == nil || !sameValue(t.Template, old.Template) {
		w.template(&t.Template, field.NewPath("template"))
	}
	return w
}

// JobWarnings are the warnings about a Job.
func JobWarnings(job, old *batchv1.Job) []string {
	var w warnings
	if old == nil {
		w.hostname(job.Name, namesPods)
	}
	if old == nil || !sameValue(job.Spec, old.Spec) {
		w.jobSpec(&job.Spec, field.NewPath("spec"))
	}
	return w
}

// CronJobWarnings are the warnings about a CronJob.
func CronJobWarnings(job, old *batchv1.CronJob) []string {
	var w warnings
	if old == nil {
		w.hostname(job.Name, namesPods)
	}
	if old == nil || !sameValue(job.Spec, old.Spec) {
		w.jobSpec(&job.Spec.JobTemplate.Spec, field.NewPath("spec", "jobTemplate", "spec"))
	}
	if old != nil && strings.Contains(job.Spec.Schedule, "TZ") {
		w = append(w, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
	return w
}

func (w *warnings) jobSpec(s *batchv1.JobSpec, p *field.Path) {
	if indexed(s) && s.Completions != nil && *s.Completions > 100_000 && s.Parallelism != nil && *s.Parallelism > 10_000 {
		w.add(p, "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "+
			"Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
	w.template(&s.Template, p.Child("template"))
}

// ServiceWarnings are the warnings about a Service.
func ServiceWarnings(service, _ *corev1.Service) []string {
	var w warnings
	s, p := &service.Spec, field.NewPath("spec")
	if _, ok := service.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]; ok {
		w = append(w, fmt.Sprintf("annotation %s is deprecated, please use %s instead", corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode))
	}
	headless := s.Type == corev1.ServiceTypeClusterIP && s.ClusterIP == corev1.ClusterIPNone
	if headless {
		w.headless(s)
	} else {
		for i, ip := range s.ClusterIPs {
			w.ip(ip, p.Child("clusterIPs").Index(i))
		}
	}
	for i, ip := range s.ExternalIPs {
		w.ip(ip, p.Child("externalIPs").Index(i))
	}
	external := s.Type == corev1.ServiceTypeExternalName
	if len(s.ExternalIPs) > 0 && !headless && !external {
		w = append(w, "spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	w.ip(s.LoadBalancerIP, p.Child("loadBalancerIP"))
	for i, cidr := range s.LoadBalancerSourceRanges {
		w.cidr(cidr, p.Child("loadBalancerSourceRanges").Index(i))
	}
	if len(s.ExternalIPs) > 0 && external {
		w = append(w, fmt.Sprintf("spec.externalIPs is ignored when spec.type is %q", corev1.ServiceTypeExternalName))
	}
	if s.ExternalName != "" && !external {
		w = append(w, fmt.Sprintf("spec.externalName is ignored when spec.type is not %q", corev1.ServiceTypeExternalName))
	}
	if d := s.TrafficDistribution; d != nil && *d == corev1.ServiceTrafficDistributionPreferClose {
		w.add(p.Child("trafficDistribution"), "%q is deprecated; use %q", *d, corev1.ServiceTrafficDistributionPreferSameZone)
	}
	return w
}

// headless names what has no effect on a service without an address.
func (w *warnings) headless(s *corev1.ServiceSpec) {
	const ignored = " is ignored for headless services"
	if s.LoadBalancerIP != "" {
		*w = append(*w, "spec.loadBalancerIP"+ignored)
	}
	if len(s.ExternalIPs) > 0 {
		*w = append(*w, "spec.externalIPs"+ignored)
	}
	if s.SessionAffinity != corev1.ServiceAffinityNone {
		*w = append(*w, "spec.SessionAffinity"+ignored)
	}
}

// ServiceStatusWarnings are the warnings about a write to status.
func ServiceStatusWarnings(service, _ *corev1.Service) []string {
	var w warnings
	for i, ingress := range service.Status.LoadBalancer.Ingress {
		w.ip(ingress.IP, field.NewPath("status", "loadBalancer", "ingress").Index(i).Child("ip"))
	}
	return w
}

// EndpointsWarnings are the warnings about Endpoints.
func EndpointsWarnings(e, _ *corev1.Endpoints) []string {
	var w warnings
	for i, s := range e.Subsets {
		p := field.NewPath("subsets").Index(i)
		for j, a := range s.Addresses {
			w.ip(a.IP, p.Child("addresses").Index(j).Child("ip"))
		}
		for j, a := range s.NotReadyAddresses {
			w.ip(a.IP, p.Child("notReadyAddresses").Index(j).Child("ip"))
		}
	}
	return w
}

// EndpointSliceWarnings are the warnings about an EndpointSlice.
func EndpointSliceWarnings(s, _ *discoveryv1.EndpointSlice) []string {
	var w warnings
	if s.AddressType == discoveryv1.AddressTypeFQDN {
		w.add(field.NewPath("spec", "addressType"), "FQDN endpoints are deprecated")
		return w
	}
	for i, e := range s.Endpoints {
		for j, a := range e.Addresses {
			w.ip(a, field.NewPath("endpoints").Index(i).Child("addresses").Index(j))
		}
	}
	return w
}

// NodeWarnings are the warnings about a Node.
func NodeWarnings(node, _ *corev1.Node) []string {
	var w warnings
	p := field.NewPath("spec")
	if node.Spec.ConfigSource != nil {
		w.add(p.Child("configSource"), "the feature is removed")
	}
	if node.Spec.DoNotUseExternalID != "" {
		w.add(p.Child("externalID"), "this field is deprecated, and is unused by Kubernetes")
	}
	for i, cidr := range node.Spec.PodCIDRs {
		w.cidr(cidr, p.Child("podCIDRs").Index(i))
	}
	return w
}

// SecretWarnings are the warnings about a Secret.
func SecretWarnings(s, _ *corev1.Secret) []string {
	if s.Type != corev1.SecretTypeTLS {
		return nil
	}
	if _, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// ServiceAccountWarnings are the warnings about a ServiceAccount.
func ServiceAccountWarnings(sa, old *corev1.ServiceAccount) []string {
	const enforce = "kubernetes.io/enforce-mountable-secrets"
	var w warnings
	if _, ok := sa.Annotations[enforce]; ok {
		if old == nil || old.Annotations[enforce] == "" {
			w.add(field.NewPath("metadata", "annotations").Key(enforce), "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets")
		}
	}
	return w
}

// IngressWarnings are the warnings about a new Ingress.
func IngressWarnings(ingress, old *networkingv1.Ingress) []string {
	const class = "kubernetes.io/ingress.class"
	if _, ok := ingress.Annotations[class]; !ok || old != nil || ingress.Spec.IngressClassName != nil {
		return nil
	}
	return []string{fmt.Sprintf("annotation %q is deprecated, please use 'spec.ingressClassName' instead", class)}
}

// IngressStatusWarnings are the warnings about a write to status.
func IngressStatusWarnings(ingress, _ *networkingv1.Ingress) []string {
	var w warnings
	for i, in := range ingress.Status.LoadBalancer.Ingress {
		w.ip(in.IP, field.NewPath("status", "loadBalancer", "ingress").Index(i).Child("ip"))
	}
	return w
}

// NetworkPolicyWarnings are the warnings about a NetworkPolicy.
func NetworkPolicyWarnings(n, _ *networkingv1.NetworkPolicy) []string {
	var w warnings
	for i, rule := range n.Spec.Ingress {
		w.networkPeers(rule.From, field.NewPath("spec", "ingress").Index(i).Child("from"))
	}
	for i, rule := range n.Spec.Egress {
		w.networkPeers(rule.To, field.NewPath("spec", "egress").Index(i).Child("to"))
	}
	return w
}

func (w *warnings) networkPeers(peers []networkingv1.NetworkPolicyPeer, p *field.Path) {
	for i, peer := range peers {
		if peer.IPBlock == nil {
			continue
		}
		at := p.Index(i).Child("ipBlock")
		w.cidr(peer.IPBlock.CIDR, at.Child("cidr"))
		for j, except := range peer.IPBlock.Except {
			w.cidr(except, at.Child("except").Index(j))
		}
	}
}

// StorageClassWarnings are the warnings about a StorageClass.
func StorageClassWarnings(c, _ *storagev1.StorageClass) []string {
	var w warnings
	for i, t := range c.AllowedTopologies {
		for j, r := range t.MatchLabelExpressions {
			if advice, ok := obsoleteNodeLabels[r.Key]; ok {
				w.add(field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions").Index(j), "%s", advice)
			}
		}
	}
	return w
}

// CSIStorageCapacityWarnings are the warnings about a CSIStorageCapacity.
func CSIStorageCapacityWarnings(c, _ *storagev1.CSIStorageCapacity) []string {
	var w warnings
	if c.NodeTopology == nil {
		return nil
	}
	p := field.NewPath("nodeTopology")
	for i, r := range c.NodeTopology.MatchExpressions {
		w.obsoleteLabel(r.Key, p.Child("matchExpressions").Index(i).Child("key"))
	}
	for _, key := range sortedKeys(c.NodeTopology.MatchLabels) {
		if advice, ok := obsoleteNodeLabels[key]; ok {
			w.add(p.Child("matchLabels").Child(key), "%s", advice)
		}
	}
	return w
}

// RuntimeClassWarnings are the warnings about a RuntimeClass.
func RuntimeClassWarnings(c, _ *nodev1.RuntimeClass) []string {
	var w warnings
	if c.Scheduling == nil {
		return nil
	}
	for _, key := range sortedKeys(c.Scheduling.NodeSelector) {
		if advice, ok := obsoleteNodeLabels[key]; ok {
			w.add(field.NewPath("scheduling", "nodeSelector"), "%s", advice)
		}
	}
	return w
}
