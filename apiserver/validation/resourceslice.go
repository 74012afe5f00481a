package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const unsetOrTrue = "must be either unset or set to true"

var semanticVersion = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
	`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

// ResourceSlice holds the rules of resource.k8s.io/v1 ResourceSlices, which stay
// with their driver, pool and node.
func ResourceSlice(s, old *resourcev1.ResourceSlice) field.ErrorList {
	p := field.NewPath("spec")
	errs := concat(metaEither(&s.ObjectMeta, metaOf(old), clusterScoped, apivalidation.NameIsDNSSubdomain),
		csiDriverName(s.Spec.Driver, p.Child("driver")), devicePool(&s.Spec.Pool, p.Child("pool")))
	var before resourcev1.ResourceSliceSpec
	if old != nil {
		before = old.Spec
		errs = append(errs, concat(unchanged(s.Spec.Pool.Name, before.Pool.Name, p.Child("pool", "name")),
			unchanged(s.Spec.Driver, before.Driver, p.Child("driver")), unchanged(s.Spec.NodeName, before.NodeName, p.Child("nodeName")))...)
	}
	return declaredLast(append(errs, resourceSliceSpec(&s.Spec, &before, p)...))
}

func resourceSliceSpec(s, old *resourcev1.ResourceSliceSpec, p *field.Path) field.ErrorList {
	const one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	set, errs := sliceNodes(s, p)
	switch len(set) {
	case 0:
		errs = append(errs, field.Required(p, one))
	case 1:
	default:
		errs = append(errs, field.Invalid(p, "{"+strings.Join(set, ", ")+"}", one+", but multiple fields are set"))
	}
	errs = append(errs, refuse(s.SharedCounters != nil && s.Devices != nil, field.Invalid(p, "", "only one of `sharedCounters` or `devices` is allowed"))...)
	limit := resourcev1.ResourceSliceMaxDevices
	if slices.ContainsFunc(s.Devices, demanding) {
		limit = resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
	}
	return concat(errs, devices(s, old, limit, p.Child("devices")), sizedSet(s.SharedCounters, resourcev1.ResourceSliceMaxCounterSets, p.Child("sharedCounters"),
		func(c *resourcev1.CounterSet) string { return c.Name }, fieldNames, counterSet),
		skippedOperations(s.SkipNodeOperations, p.Child("skipNodeOperations")))
}

func devices(s, old *resourcev1.ResourceSliceSpec, limit int, p *field.Path) field.ErrorList {
	errs := bounded(s.Devices, limit, p, func(d *resourcev1.Device, p *field.Path) field.ErrorList {
		return device(d, earlierDevice(old, d.Name), isTrue(s.PerDeviceNodeSelection), p)
	})
	if len(s.Devices) > limit {
		return errs
	}
	var names []string
	for _, d := range s.Devices {
		names = append(names, d.Name)
	}
	return append(errs, repeated(names, p, func(i int) any { return names[i] })...)
}

// demanding devices take more room, so that a slice may hold fewer.
func demanding(d resourcev1.Device) bool {
	for _, a := range d.Attributes {
		if a.BoolValues != nil || a.IntValues != nil || a.StringValues != nil || a.VersionValues != nil {
			return true
		}
	}
	return len(d.Taints)+len(d.ConsumesCounters) > 0
}

func earlierDevice(s *resourcev1.ResourceSliceSpec, name string) *resourcev1.Device {
	for i := range s.Devices {
		if s.Devices[i].Name == name {
			return &s.Devices[i]
		}
	}
	return nil
}

// sliceNodes checks the ways to say where devices are, and names those used.
func sliceNodes(s *resourcev1.ResourceSliceSpec, p *field.Path) (set []string, errs field.ErrorList) {
	if n := s.NodeName; n != nil && *n != "" {
		set, errs = append(set, "`nodeName`"), named(*n, p.Child("nodeName"), apivalidation.NameIsDNSSubdomain)
	} else if n != nil {
		errs = append(errs, field.Invalid(p.Child("nodeName"), "", "must be either unset or set to a non-empty string"))
	}
	if n := s.NodeSelector; n != nil {
		set, errs = append(set, "`nodeSelector`"), append(errs, nodeSelector(n, p.Child("nodeSelector"))...)
		errs = append(errs, refuse(len(n.NodeSelectorTerms) != 1, field.Invalid(p.Child("nodeSelector", "nodeSelectorTerms"),
			byFieldName(n.NodeSelectorTerms), "must have exactly one node selector term"))...)
	}
	for _, flag := range []struct {
		name  string
		value *bool
	}{{"allNodes", s.AllNodes}, {"perDeviceNodeSelection", s.PerDeviceNodeSelection}} {
		if isTrue(flag.value) {
			set = append(set, "`"+flag.name+"`")
		} else if flag.value != nil {
			errs = append(errs, field.Invalid(p.Child(flag.name), false, unsetOrTrue))
		}
	}
	return set, errs
}

func devicePool(pool *resourcev1.ResourcePool, p *field.Path) field.ErrorList {
	return concat(poolName(pool.Name, p.Child("name")),
		refuse(pool.ResourceSliceCount <= 0, field.Invalid(p.Child("resourceSliceCount"), pool.ResourceSliceCount, notPositive)),
		refuse(pool.Generation < 0, field.Invalid(p.Child("generation"), pool.Generation, notNegative)))
}

func poolName(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return required(name, p)
	}
	errs := refuse(len(name) > resourcev1.PoolNameMaxLength, field.TooLong(p, "", resourcev1.PoolNameMaxLength))
	for part := range strings.SplitSeq(name, "/") {
		errs = append(errs, dnsSubdomain(part, p)...)
	}
	return errs
}

func skippedOperations(list []resourcev1.SkipNodeOperation, p *field.Path) field.ErrorList {
	return refuse(slices.Contains(list, resourcev1.SkipNodeOperationNodePrepareResources) &&
		!slices.Contains(list, resourcev1.SkipNodeOperationNodeUnprepareResources) && !slices.Contains(list, resourcev1.SkipNodeOperationAll),
		field.Invalid(p, list, "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped"))
}

func counterSet(c *resourcev1.CounterSet, p *field.Path) field.ErrorList {
	return append(declared(requiredName(c.Name, p.Child("name"), apivalidation.NameIsDNSLabel)),
		deviceCounters(c.Counters, resourcev1.ResourceSliceMaxCountersPerCounterSet, p.Child("counters"))...)
}

func deviceCounters(counters map[string]resourcev1.Counter, limit int, p *field.Path) field.ErrorList {
	switch {
	case len(counters) == 0:
		return declared(field.ErrorList{field.Required(p, "")})
	case len(counters) > limit:
		return field.ErrorList{field.TooMany(p, len(counters), limit)}
	}
	var errs field.ErrorList
	for _, name := range sortedKeys(counters) {
		errs = append(errs, declared(dnsLabel(name, p))...)
	}
	return errs
}

// device leaves alone what an update does not change, for limits that are newer.
func device(d, old *resourcev1.Device, ownNodes bool, p *field.Path) field.ErrorList {
	errs := concat(dnsLabel(d.Name, p.Child("name")), attributeCount(d, p), deviceAttributes(d.Attributes, p.Child("attributes")))
	if old == nil || !sameValue(old.Capacity, d.Capacity) {
		errs = append(errs, deviceCapacities(d.Capacity, isTrue(d.AllowMultipleAllocations), p.Child("capacity"))...)
	}
	errs = append(errs, sizedSet(d.ConsumesCounters, resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice, p.Child("consumesCounters"),
		func(c *resourcev1.DeviceCounterConsumption) string { return c.CounterSet }, fieldNames, counterUse)...)
	if old == nil || !sameValue(old.Taints, d.Taints) {
		errs = append(errs, bounded(d.Taints, resourcev1.DeviceTaintsMaxLength, p.Child("taints"), deviceTaint)...)
	}
	return concat(errs, deviceNodes(d, ownNodes, p), bindingConditions(d.BindingConditions, d.BindingFailureConditions, p))
}

func attributeCount(d *resourcev1.Device, p *field.Path) field.ErrorList {
	const most, mostValues = resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice, resourcev1.ResourceSliceMaxAttributeValuesPerDevice
	values := 0
	for _, a := range d.Attributes {
		values += max(1, len(a.BoolValues)+len(a.IntValues)+len(a.StringValues)+len(a.VersionValues))
	}
	n := len(d.Attributes) + len(d.Capacity)
	return append(refuse(n > most, field.Invalid(p, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", most))),
		refuse(values > mostValues, field.Invalid(p, values, fmt.Sprintf("the total number of attribute values must not exceed %d", mostValues)))...)
}

// shortenedKey is a map key as it appears in a path, which shows no key in full
// that is longer than any may be.
func shortenedKey(key resourcev1.QualifiedName) string {
	const longest, dots = resourcev1.DeviceMaxDomainLength + 1 + resourcev1.DeviceMaxIDLength, "..."
	if len(key) <= longest {
		return string(key)
	}
	rest := longest - len(dots)
	return string(key[:(rest+1)/2]) + dots + string(key[len(key)-rest/2:])
}

func deviceQualifiedName(name resourcev1.QualifiedName, p *field.Path) field.ErrorList {
	domain, id, slash := strings.Cut(string(name), "/")
	switch {
	case !slash:
		return deviceID(domain, p)
	case strings.Contains(id, "/"):
		return field.ErrorList{field.Invalid(p, string(name), "must not contain more than one slash")}
	}
	errs := refuse(domain == "", field.Invalid(p, "", "the domain must not be empty"))
	if domain != "" {
		errs = append(errs, csiDriverName(domain, p)...)
	}
	if id == "" {
		return append(errs, field.Invalid(p, "", "the name must not be empty"))
	}
	return append(errs, deviceID(id, p)...)
}

func deviceID(id string, p *field.Path) field.ErrorList {
	return append(refuse(len(id) > resourcev1.DeviceMaxIDLength, field.TooLong(p, "", resourcev1.DeviceMaxIDLength)),
		invalids(id, p, content.IsCIdentifier(id))...)
}

func deviceAttributes(attributes map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range sortedKeys(attributes) {
		a := attributes[key]
		errs = append(errs, deviceQualifiedName(key, p)...)
		errs = append(errs, deviceAttribute(&a, p.Key(shortenedKey(key)))...)
	}
	return errs
}

func deviceAttribute(a *resourcev1.DeviceAttribute, p *field.Path) field.ErrorList {
	var set []string
	var errs field.ErrorList
	for _, m := range []struct {
		name   string
		set    bool
		empty  bool
		errors field.ErrorList
	}{
		{"int", a.IntValue != nil, false, nil},
		{"bool", a.BoolValue != nil, false, nil},
		{"string", a.StringValue != nil, false, when(a.StringValue, p.Child("string"), attributeString)},
		{"version", a.VersionValue != nil, false, when(a.VersionValue, p.Child("version"), attributeVersion)},
		{"ints", a.IntValues != nil, len(a.IntValues) == 0, nil},
		{"bools", a.BoolValues != nil, len(a.BoolValues) == 0, nil},
		{"strings", a.StringValues != nil, len(a.StringValues) == 0, each(a.StringValues, p.Child("strings"), attributeString)},
		{"versions", a.VersionValues != nil, len(a.VersionValues) == 0, each(a.VersionValues, p.Child("versions"), attributeVersion)},
	} {
		if !m.set {
			continue
		}
		set = append(set, "`"+m.name+"`")
		errs = append(errs, refuse(m.empty, field.Invalid(p.Child(m.name), []string{}, "must not be empty if specified"))...)
		errs = append(errs, m.errors...)
	}
	const all = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
	switch len(set) {
	case 0:
		return append(errs, declared(field.ErrorList{field.Invalid(p, "", "must specify one of: "+all)})...)
	case 1:
		return errs
	}
	return append(errs, declared(field.ErrorList{field.Invalid(p, "{"+strings.Join(set, ", ")+"}", "must specify exactly one of: "+all)})...)
}

func attributeString(s *string, p *field.Path) field.ErrorList {
	return refuse(len(*s) > resourcev1.DeviceAttributeMaxValueLength, field.TooLong(p, "", resourcev1.DeviceAttributeMaxValueLength))
}

func attributeVersion(s *string, p *field.Path) field.ErrorList {
	return append(refuse(!semanticVersion.MatchString(*s), field.Invalid(p, *s, "must be a string compatible with semver.org spec 2.0.0")), attributeString(s, p)...)
}

func counterUse(c *resourcev1.DeviceCounterConsumption, p *field.Path) field.ErrorList {
	return append(declared(requiredName(c.CounterSet, p.Child("counterSet"), apivalidation.NameIsDNSLabel)),
		deviceCounters(c.Counters, resourcev1.ResourceSliceMaxCountersPerDeviceCounterConsumption, p.Child("counters"))...)
}

func deviceTaint(t *resourcev1.DeviceTaint, p *field.Path) field.ErrorList {
	return concat(metav1validation.ValidateLabelName(t.Key, p.Child("key")), invalids(t.Value, p.Child("value"), validation.IsValidLabelValue(t.Value)),
		deviceTaintEffect(t.Effect, p.Child("effect")))
}

func deviceNodes(d *resourcev1.Device, own bool, p *field.Path) field.ErrorList {
	if !own {
		return refuse(d.NodeName != nil || d.NodeSelector != nil || d.AllNodes != nil,
			field.Invalid(p, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"))
	}
	var set []string
	var errs field.ErrorList
	if n := d.NodeName; n != nil && *n != "" {
		set, errs = append(set, "`nodeName`"), named(*n, p.Child("nodeName"), apivalidation.NameIsDNSSubdomain)
	} else if n != nil {
		errs = append(errs, field.Invalid(p.Child("nodeName"), "", "must not be empty"))
	}
	if d.NodeSelector != nil {
		set, errs = append(set, "`nodeSelector`"), append(errs, nodeSelector(d.NodeSelector, p.Child("nodeSelector"))...)
	}
	if isTrue(d.AllNodes) {
		set = append(set, "`allNodes`")
	} else if d.AllNodes != nil {
		errs = append(errs, field.Invalid(p.Child("allNodes"), false, unsetOrTrue))
	}
	const one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	switch len(set) {
	case 0:
		return append(errs, field.Required(p, one))
	case 1:
		return errs
	}
	return append(errs, field.Invalid(p, "{"+strings.Join(set, ", ")+"}", one))
}

// bindingConditions keeps the conditions that let a pod start apart from those
// that stop it.
func bindingConditions(conditions, failures []string, p *field.Path) field.ErrorList {
	label := func(s *string, p *field.Path) field.ErrorList { return metav1validation.ValidateLabelName(*s, p) }
	at, atFailures := p.Child("bindingConditions"), p.Child("bindingFailureConditions")
	errs := append(sized(conditions, resourcev1.BindingConditionsMaxSize, at, label), sized(failures, resourcev1.BindingFailureConditionsMaxSize, atFailures, label)...)
	errs = append(errs, repeated(conditions, at, func(i int) any { return conditions[i] })...)
	seen := sets.New[string]()
	for i, f := range failures {
		errs = append(errs, refuse(seen.Has(f), field.Duplicate(atFailures.Index(i), f))...)
		errs = append(errs, refuse(slices.Contains(conditions, f), field.Invalid(atFailures.Index(i), f, "bindingFailureConditions must not overlap with bindingConditions"))...)
		seen.Insert(f)
	}
	return errs
}

// DeviceTaintRule holds the rules of resource.k8s.io/v1 DeviceTaintRules.
func DeviceTaintRule(r, old *resourcev1.DeviceTaintRule) field.ErrorList {
	p := field.NewPath("spec")
	errs := metaEither(&r.ObjectMeta, metaOf(old), clusterScoped, apivalidation.NameIsDNSSubdomain)
	if s := r.Spec.DeviceSelector; s != nil {
		at := p.Child("deviceSelector")
		byValue := func(rule func(string, *field.Path) field.ErrorList) func(*string, *field.Path) field.ErrorList {
			return func(s *string, p *field.Path) field.ErrorList { return rule(*s, p) }
		}
		errs = append(errs, concat(when(s.Driver, at.Child("driver"), byValue(csiDriverName)), when(s.Pool, at.Child("pool"), byValue(poolName)),
			when(s.Device, at.Child("device"), byValue(dnsLabel)))...)
	}
	return declaredLast(append(errs, deviceTaint(&r.Spec.Taint, p.Child("taint"))...))
}

// DeviceTaintRuleStatus holds the rules of a write to status.
func DeviceTaintRuleStatus(r, old *resourcev1.DeviceTaintRule) field.ErrorList {
	p := field.NewPath("status", "conditions")
	errs := metaUpdate(&r.ObjectMeta, &old.ObjectMeta)
	if n := len(r.Status.Conditions); n > resourcev1.DeviceTaintRuleStatusMaxConditions {
		return append(errs, field.TooMany(p, n, resourcev1.DeviceTaintRuleStatusMaxConditions))
	}
	return append(errs, metav1validation.ValidateConditions(r.Status.Conditions, p)...)
}
