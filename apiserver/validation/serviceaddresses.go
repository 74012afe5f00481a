package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

const onceSet = "may not change once set"

// clusterIPs checks that addresses, families and policy of a Service agree.
func clusterIPs(svc *corev1.Service) field.ErrorList {
	s := &svc.Spec
	if s.Type == corev1.ServiceTypeExternalName {
		return nil // has none
	}
	p := field.NewPath("spec", "clusterIPs")
	errs := concat(primaryIP(s, p), ipFamilies(s, field.NewPath("spec")))
	valid := true
	for i, ip := range s.ClusterIPs {
		var wrong field.ErrorList
		if i == 0 && ip == corev1.ClusterIPNone {
			wrong = refuse(len(s.ClusterIPs) > 1, field.Invalid(p, s.ClusterIPs, "'None' must be the first and only value"))
		} else {
			wrong = ipAddress(ip, p.Index(i))
		}
		valid = valid && len(wrong) == 0
		errs = append(errs, wrong...)
	}
	errs = append(errs, refuse(len(s.ClusterIPs) > 2, field.Invalid(p, s.ClusterIPs, "may only hold up to 2 values"))...)
	if !valid { // the rest would only repeat it
		return errs
	}
	if len(s.ClusterIPs) > 1 {
		both, _ := netutils.IsDualStackIPStrings(s.ClusterIPs)
		errs = append(errs, refuse(!both, field.Invalid(p, s.ClusterIPs, "may specify no more than one IP for each IP family"))...)
	}
	if headless(svc) {
		return errs
	}
	for i := range min(len(s.ClusterIPs), len(s.IPFamilies)) {
		ip, family := s.ClusterIPs[i], s.IPFamilies[i]
		is := corev1.IPv4Protocol
		if netutils.IsIPv6String(ip) {
			is = corev1.IPv6Protocol
		}
		known := family == corev1.IPv4Protocol || family == corev1.IPv6Protocol
		errs = append(errs, refuse(known && family != is,
			field.Invalid(p.Index(i), ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", family, i)))...)
	}
	return errs
}

func primaryIP(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	switch {
	case s.ClusterIP == "":
		return refuse(len(s.ClusterIPs) > 0, field.Invalid(p, s.ClusterIPs, "must be empty when `clusterIP` is not specified"))
	case len(s.ClusterIPs) == 0:
		return field.ErrorList{field.Required(p, "")}
	}
	return refuse(s.ClusterIPs[0] != s.ClusterIP, field.Invalid(p, s.ClusterIPs, "first value must match `clusterIP`"))
}

func ipFamilies(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	seen := sets.New[corev1.IPFamily]()
	errs := each(s.IPFamilies, p.Child("ipFamilies"), func(f *corev1.IPFamily, p *field.Path) field.ErrorList {
		errs := concat(supported(*f, p, corev1.IPv4Protocol, corev1.IPv6Protocol), refuse(seen.Has(*f), field.Duplicate(p, *f)))
		seen.Insert(*f)
		return errs
	})
	return append(errs, when(s.IPFamilyPolicy, p.Child("ipFamilyPolicy"), func(v *corev1.IPFamilyPolicy, p *field.Path) field.ErrorList {
		return supported(*v, p, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack)
	})...)
}

// clusterIPUpdate lets a second address come and go, and the first one stay.
func clusterIPUpdate(svc, old *corev1.Service) field.ErrorList {
	if svc.Spec.Type == corev1.ServiceTypeExternalName || old.Spec.Type == corev1.ServiceTypeExternalName || (headless(svc) && headless(old)) {
		return nil
	}
	p := field.NewPath("spec", "clusterIPs")
	now, was := svc.Spec.ClusterIPs, old.Spec.ClusterIPs
	var errs field.ErrorList
	if len(now) == len(was) {
		for i := range was {
			errs = append(errs, refuse(now[i] != was[i], field.Invalid(p.Index(i), now, onceSet))...)
		}
		return errs
	}
	if len(now) == 0 {
		return append(errs, field.Invalid(p.Index(0), now, "primary clusterIP can not be unset"))
	}
	errs = append(errs, refuse(len(was) > 0 && now[0] != was[0], field.Invalid(p.Index(0), now, onceSet))...)
	return append(errs, refuse(len(now) == 1 && len(was) > 1 && !singleStack(svc), field.Invalid(field.NewPath("spec", "ipFamilyPolicy"), svc.Spec.IPFamilyPolicy,
		"must be set to 'SingleStack' when releasing the secondary clusterIP"))...)
}

func singleStack(svc *corev1.Service) bool {
	return svc.Spec.IPFamilyPolicy != nil && *svc.Spec.IPFamilyPolicy == corev1.IPFamilyPolicySingleStack
}

func ipFamilyUpdate(svc, old *corev1.Service) field.ErrorList {
	if svc.Spec.Type == corev1.ServiceTypeExternalName || old.Spec.Type == corev1.ServiceTypeExternalName || headless(svc) || headless(old) {
		return nil
	}
	p := field.NewPath("spec", "ipFamilies").Index(0)
	now, was := svc.Spec.IPFamilies, old.Spec.IPFamilies
	if len(now) == len(was) {
		return refuse(!slices.Equal(now, was), field.Invalid(p, now, onceSet))
	}
	errs := refuse(len(now) < len(was) && len(svc.Spec.ClusterIPs) == 0, field.Invalid(p, now, "primary ipFamily can not be unset"))
	errs = append(errs, refuse(len(now) > 0 && len(was) > 0 && now[0] != was[0], field.Invalid(p, svc.Spec.ClusterIPs, onceSet))...)
	return append(errs, refuse(len(now) == 1 && len(was) > 1 && !singleStack(svc), field.Invalid(field.NewPath("spec", "ipFamilyPolicy"), svc.Spec.IPFamilyPolicy,
		"must be set to 'SingleStack' when releasing the secondary ipFamily"))...)
}
