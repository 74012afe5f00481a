package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
)

// Chain is the plugins that are on, in order.
type Chain struct {
	plugins []Plugin
}

// choice is a plugin that can be had.
type choice struct {
	plugin Plugin
	// isOptional is true for what is off unless asked for.
	isOptional bool
}

// choices are all plugins in Kubernetes' recommended order: namespaces first,
// then what fills pods in, quota last, since it counts what the others made.
func choices(lister Lister, clock clock.Clock) []choice {
	return []choice{
		{plugin: &AlwaysAdmit{}, isOptional: true},
		{plugin: &NamespaceLifecycle{lister: lister}},
		{plugin: &NamespaceExists{lister: lister}, isOptional: true},
		{plugin: &LimitPodHardAntiAffinityTopology{}, isOptional: true},
		{plugin: &LimitRanger{lister: lister}},
		{plugin: &ServiceAccount{lister: lister, clock: clock}},
		{plugin: &NodeRestriction{lister: lister}},
		{plugin: &TaintNodesByCondition{}},
		{plugin: &AlwaysPullImages{}, isOptional: true},
		{plugin: NewPodSecurity(lister)},
		{plugin: &PodNodeSelector{lister: lister}, isOptional: true},
		{plugin: &Priority{lister: lister}},
		{plugin: &DefaultTolerationSeconds{NotReady: 300 * time.Second, Unreachable: 300 * time.Second}},
		{plugin: &ExtendedResourceToleration{}, isOptional: true},
		{plugin: &DefaultStorageClass{lister: lister}},
		{plugin: &StorageObjectInUseProtection{}},
		{plugin: &OwnerReferencesPermissionEnforcement{lister: lister}, isOptional: true},
		{plugin: &PersistentVolumeClaimResize{lister: lister}},
		{plugin: &RuntimeClass{lister: lister}},
		{plugin: &CertificateApproval{lister: lister}},
		{plugin: &CertificateSigning{lister: lister}},
		{plugin: &CertificateSubjectRestriction{}},
		{plugin: &DefaultIngressClass{lister: lister}},
		{plugin: &DenyServiceExternalIPs{}, isOptional: true},
		{plugin: &PodTopologyLabels{lister: lister}},
		{plugin: &PodResizeValidator{lister: lister}},
		{plugin: &ResourceQuota{lister: lister}},
		{plugin: &AlwaysDeny{}, isOptional: true},
	}
}

// New makes a chain of the default plugins, less those disabled, plus those
// enabled. It fails on a name that no plugin has.
//
// dynamic are the plugins that users extend, which come before the quota.
func New(lister Lister, clock clock.Clock, disable, enable []string, dynamic ...Plugin) (*Chain, error) {
	all := choices(lister, clock)
	for _, p := range dynamic {
		all = slices.Insert(all, len(all)-2, choice{plugin: p}) // quota and AlwaysDeny come last
	}
	if err := checkNames(all, disable, enable); err != nil {
		return nil, err
	}
	chain := &Chain{}
	for _, c := range all {
		name := c.plugin.Name()
		isOn := !c.isOptional || slices.Contains(enable, name)
		if isOn && !slices.Contains(disable, name) {
			chain.plugins = append(chain.plugins, c.plugin)
		}
	}
	return chain, nil
}

func checkNames(all []choice, disable, enable []string) error {
	known := make([]string, 0, len(all))
	for _, c := range all {
		known = append(known, c.plugin.Name())
	}
	for _, name := range slices.Concat(disable, enable) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown admission plugin %q, known are %s", name, strings.Join(known, ", "))
		}
		if slices.Contains(enable, name) && slices.Contains(disable, name) {
			return fmt.Errorf("admission plugin %q is both enabled and disabled", name)
		}
	}
	return nil
}

// Names of the plugins that are on, in order.
func (c *Chain) Names() []string {
	names := make([]string, 0, len(c.plugins))
	for _, p := range c.plugins {
		names = append(names, p.Name())
	}
	return names
}

// Admit lets every plugin change the object, and once more if one of them asks
// for that. The caller defaults, prepares and
// validates it afterwards.
func (c *Chain) Admit(ctx context.Context, a *Attributes) error {
	a.isMutating = true
	defer func() { a.isMutating, a.isAgain, a.askAgain = false, false, false }()
	if err := c.admit(ctx, a); err != nil || !a.askAgain {
		return err
	}
	a.isAgain = true
	return c.admit(ctx, a)
}

func (c *Chain) admit(ctx context.Context, a *Attributes) error {
	var before runtime.Object
	for _, p := range c.plugins {
		m, ok := p.(Mutator)
		if !ok {
			continue
		}
		if err := a.watched(p.Name(), &before, func() error { return m.Admit(ctx, a) }); err != nil {
			return err
		}
	}
	return nil
}

// Validate lets every plugin refuse the object as it is about to be stored, or
// its deletion.
func (c *Chain) Validate(ctx context.Context, a *Attributes) error {
	for _, p := range c.plugins {
		v, ok := p.(Validator)
		if !ok {
			continue
		}
		if err := v.Validate(ctx, a); err != nil {
			return err
		}
	}
	return nil
}
