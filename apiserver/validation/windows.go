package validation

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxCredentialSpec = 64 << 10
	maxWindowsDomain  = 256
	maxWindowsUser    = 104
)

var (
	controlCharacters = regexp.MustCompile(`[[:cntrl:]]+`)
	netBIOSDomain     = regexp.MustCompile(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`)
	dnsDomain         = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
	badUserCharacters = regexp.MustCompile(`["/\\:;|=,\+\*\?<>@\[\]]`)
	dotsAndSpaces     = regexp.MustCompile(`^[\. ]+$`)
)

func windowsOptions(o *corev1.WindowsSecurityContextOptions, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if name := o.GMSACredentialSpecName; name != nil {
		errs = append(errs, invalids(name, p.Child("gmsaCredentialSpecName"), validation.IsDNS1123Subdomain(*name))...)
	}
	if spec := o.GMSACredentialSpec; spec != nil {
		at := p.Child("gmsaCredentialSpec")
		errs = append(errs, concat(
			refuse(*spec == "", field.Invalid(at, spec, "gmsaCredentialSpec cannot be an empty string")),
			refuse(len(*spec) > maxCredentialSpec, field.Invalid(at, spec, fmt.Sprintf("gmsaCredentialSpec size must be under %d KiB", maxCredentialSpec>>10))))...)
	}
	if o.RunAsUserName != nil {
		errs = append(errs, invalids(o.RunAsUserName, p.Child("runAsUserName"), windowsUser(*o.RunAsUserName))...)
	}
	return errs
}

// windowsUser says what is wrong with a DOMAIN\user.
func windowsUser(name string) []string {
	switch {
	case name == "":
		return []string{"runAsUserName cannot be an empty string"}
	case controlCharacters.MatchString(name):
		return []string{"runAsUserName cannot contain control characters"}
	case strings.Count(name, `\`) > 1:
		return []string{"runAsUserName cannot contain more than one backslash"}
	}
	domain, user, hasDomain := strings.Cut(name, `\`)
	if !hasDomain {
		domain, user = "", name
	}
	var messages []string
	say := func(wrong bool, message string) {
		if wrong {
			messages = append(messages, message)
		}
	}
	say(len(domain) >= maxWindowsDomain, fmt.Sprintf("runAsUserName's Domain length must be under %d characters", maxWindowsDomain))
	say(hasDomain && !netBIOSDomain.MatchString(domain) && !dnsDomain.MatchString(domain),
		"runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	say(user == "", "runAsUserName's User cannot be empty")
	say(len(user) > maxWindowsUser, fmt.Sprintf("runAsUserName's User length must not be longer than %d characters", maxWindowsUser))
	say(dotsAndSpaces.MatchString(user), "runAsUserName's User cannot contain only periods or spaces")
	say(badUserCharacters.MatchString(user), `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	return messages
}

// hostProcess checks that a pod runs all of its containers as processes of a
// Windows host, or none.
func (c *podContext) hostProcess(p *field.Path) field.ErrorList {
	var ofPod *bool
	if sc := c.spec.SecurityContext; sc != nil && sc.WindowsOptions != nil {
		ofPod = sc.WindowsOptions.HostProcess
	}
	var errs field.ErrorList
	all, host := 0, 0
	eachContainer(c.spec, p, func(ct *corev1.Container, p *field.Path) {
		all++
		own := ofPod
		if sc := ct.SecurityContext; sc != nil && sc.WindowsOptions != nil && sc.WindowsOptions.HostProcess != nil {
			own = sc.WindowsOptions.HostProcess
			if ofPod != nil && *ofPod != *own {
				errs = append(errs, field.Invalid(p.Child("securityContext", "windowsOptions", "hostProcess"), *own,
					fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", *ofPod)))
			}
		}
		if isTrue(own) {
			host++
		}
	})
	if host == 0 {
		return errs
	}
	return concat(errs,
		refuse(host != all, field.Invalid(p, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers")),
		refuse(!c.spec.HostNetwork, field.Invalid(p.Child("hostNetwork"), false, "hostNetwork must be true if pod contains any hostProcess containers")))
}

// podOS refuses settings of the other operating system.
func (c *podContext) podOS(p *field.Path) field.ErrorList {
	os := c.spec.OS
	switch {
	case os == nil:
		return nil
	case os.Name == "":
		return field.ErrorList{field.Required(p.Child("os", "name"), "cannot be empty")}
	case os.Name == corev1.Linux:
		return c.linuxOnly(p)
	case os.Name == corev1.Windows:
		return c.windowsOnly(p)
	}
	return supported(os.Name, p.Child("os"), corev1.Linux, corev1.Windows)
}

func (c *podContext) linuxOnly(p *field.Path) field.ErrorList {
	const reason = "windows options cannot be set for a linux pod"
	sc := c.spec.SecurityContext
	errs := refuse(sc != nil && sc.WindowsOptions != nil, field.Forbidden(p.Child("securityContext", "windowsOptions"), reason))
	eachContainer(c.spec, p, func(ct *corev1.Container, p *field.Path) {
		sc := ct.SecurityContext
		errs = append(errs, refuse(sc != nil && sc.WindowsOptions != nil, field.Forbidden(p.Child("securityContext", "windowsOptions"), reason))...)
	})
	return errs
}

func (c *podContext) windowsOnly(p *field.Path) field.ErrorList {
	sc := c.spec.SecurityContext
	if sc == nil {
		sc = &corev1.PodSecurityContext{}
	}
	inContext := p.Child("securityContext")
	errs := forbidSet("cannot be set for a windows pod", []setting{
		{inContext.Child("appArmorProfile"), sc.AppArmorProfile != nil},
		{inContext.Child("seLinuxOptions"), sc.SELinuxOptions != nil},
		{p.Child("hostUsers"), c.spec.HostUsers != nil},
		{p.Child("hostPID"), c.spec.HostPID},
		{p.Child("hostIPC"), c.spec.HostIPC},
		{inContext.Child("seccompProfile"), sc.SeccompProfile != nil},
		{inContext.Child("fsGroup"), sc.FSGroup != nil},
		{inContext.Child("fsGroupChangePolicy"), sc.FSGroupChangePolicy != nil},
		{inContext.Child("sysctls"), len(sc.Sysctls) > 0},
		{p.Child("shareProcessNamespace"), c.spec.ShareProcessNamespace != nil},
		{inContext.Child("runAsUser"), sc.RunAsUser != nil},
		{inContext.Child("runAsGroup"), sc.RunAsGroup != nil},
		{inContext.Child("supplementalGroups"), sc.SupplementalGroups != nil},
		{inContext.Child("supplementalGroupsPolicy"), sc.SupplementalGroupsPolicy != nil},
		{inContext.Child("seLinuxChangePolicy"), sc.SELinuxChangePolicy != nil},
	})
	eachContainer(c.spec, p, func(ct *corev1.Container, p *field.Path) {
		if ct.SecurityContext != nil {
			errs = append(errs, windowsContainer(ct.SecurityContext, p.Child("securityContext"))...)
		}
	})
	return errs
}

func windowsContainer(sc *corev1.SecurityContext, p *field.Path) field.ErrorList {
	return forbidSet("cannot be set for a windows pod", []setting{
		{p.Child("appArmorProfile"), sc.AppArmorProfile != nil},
		{p.Child("seLinuxOptions"), sc.SELinuxOptions != nil},
		{p.Child("seccompProfile"), sc.SeccompProfile != nil},
		{p.Child("capabilities"), sc.Capabilities != nil},
		{p.Child("readOnlyRootFilesystem"), sc.ReadOnlyRootFilesystem != nil},
		{p.Child("privileged"), sc.Privileged != nil},
		{p.Child("allowPrivilegeEscalation"), sc.AllowPrivilegeEscalation != nil},
		{p.Child("procMount"), sc.ProcMount != nil},
		{p.Child("runAsUser"), sc.RunAsUser != nil},
		{p.Child("runAsGroup"), sc.RunAsGroup != nil},
	})
}

// setting is a field and whether it is set.
type setting struct {
	path *field.Path
	set  bool
}

func forbidSet(reason string, settings []setting) field.ErrorList {
	var errs field.ErrorList
	for _, s := range settings {
		errs = append(errs, refuse(s.set, field.Forbidden(s.path, reason))...)
	}
	return errs
}
