package configuration

import (
	"errors"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

const kind = "KubeSchedulerConfiguration"

// Load reads a file.
func Load(path string) (*configv1.KubeSchedulerConfiguration, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Parse reads YAML or JSON, in which every field must be known, and fills in
// the defaults.
func Parse(data []byte) (*configv1.KubeSchedulerConfiguration, error) {
	c := &configv1.KubeSchedulerConfiguration{}
	if err := yaml.UnmarshalStrict(data, c); err != nil {
		return nil, err
	}
	if c.APIVersion != configv1.SchemeGroupVersion.String() || c.Kind != kind {
		return nil, fmt.Errorf("it is %s of %s, not %s of %s", c.Kind, c.APIVersion, kind, configv1.SchemeGroupVersion)
	}
	setDefaults(c)
	return c, validate(c)
}

// Default is what holds without a file.
func Default() *configv1.KubeSchedulerConfiguration {
	c := &configv1.KubeSchedulerConfiguration{}
	setDefaults(c)
	return c
}

func setDefaults(c *configv1.KubeSchedulerConfiguration) {
	if c.PodInitialBackoffSeconds == nil {
		c.PodInitialBackoffSeconds = ptr.To[int64](1)
	}
	if c.PodMaxBackoffSeconds == nil {
		c.PodMaxBackoffSeconds = ptr.To[int64](10)
	}
	if len(c.Profiles) == 0 {
		c.Profiles = []configv1.KubeSchedulerProfile{{}}
	}
	for i := range c.Profiles {
		p := &c.Profiles[i]
		if p.SchedulerName == nil && len(c.Profiles) == 1 {
			p.SchedulerName = ptr.To(v1.DefaultSchedulerName)
		}
		if p.PercentageOfNodesToScore == nil {
			p.PercentageOfNodesToScore = c.PercentageOfNodesToScore
		}
	}
}

func validate(c *configv1.KubeSchedulerConfiguration) error {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	names := sets.New[string]()
	for i := range c.Profiles {
		name := ptr.Deref(c.Profiles[i].SchedulerName, "")
		refuse(name == "", "profiles[%d].schedulerName: Required value", i)
		refuse(name != "" && names.Has(name), "profiles[%d].schedulerName: Duplicate value: %q", i, name)
		names.Insert(name)
		percentage := ptr.Deref(c.Profiles[i].PercentageOfNodesToScore, 0)
		refuse(percentage < 0 || percentage > 100, "percentageOfNodesToScore: Invalid value: %d: not in valid range [0-100]", percentage)
	}
	initial, longest := *c.PodInitialBackoffSeconds, *c.PodMaxBackoffSeconds
	refuse(initial <= 0, "podInitialBackoffSeconds: Invalid value: %d: must be greater than 0", initial)
	refuse(longest < initial, "podMaxBackoffSeconds: Invalid value: %d: must be greater than or equal to PodInitialBackoffSeconds", longest)
	binders := 0
	for i := range c.Extenders {
		e := &c.Extenders[i]
		refuse(e.URLPrefix == "", "extenders[%d].urlPrefix: Required value", i)
		refuse(e.PrioritizeVerb != "" && e.Weight <= 0, "extenders[%d].weight: Invalid value: %d: must have a positive weight applied to it", i, e.Weight)
		if e.BindVerb != "" {
			binders++
		}
	}
	refuse(binders > 1, "extenders: Invalid value: found %d extenders implementing bind: only one extender can implement bind", binders)
	return errors.Join(errs...)
}
