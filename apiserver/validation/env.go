package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Fields of its pod that a container may read, in the environment or in a file.
var (
	envFields = []string{"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}
	fileFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}

	resourceFields = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory",
		"requests.cpu", "requests.ephemeral-storage", "requests.memory"}
)

func (c *podContext) env(vars []corev1.EnvVar, p *field.Path) field.ErrorList {
	return each(vars, p, func(v *corev1.EnvVar, p *field.Path) field.ErrorList {
		name := field.ErrorList{field.Required(p.Child("name"), "")}
		if v.Name != "" {
			name = invalids(v.Name, p.Child("name"), validation.IsRelaxedEnvVarName(v.Name))
		}
		return append(name, c.envSource(v, p.Child("valueFrom"))...)
	})
}

func (c *podContext) envSource(v *corev1.EnvVar, p *field.Path) field.ErrorList {
	from := v.ValueFrom
	if from == nil {
		return nil
	}
	var errs field.ErrorList
	sources := 0
	if from.FieldRef != nil {
		sources++
		errs = append(errs, fieldRef(from.FieldRef, envFields, p.Child("fieldRef"))...)
	}
	if from.ResourceFieldRef != nil {
		sources++
		errs = append(errs, resourceFieldRef(from.ResourceFieldRef, false, p.Child("resourceFieldRef"))...)
	}
	if ref := from.ConfigMapKeyRef; ref != nil {
		sources++
		errs = append(errs, keyRef(ref.Name, ref.Key, p.Child("configMapKeyRef"))...)
	}
	if ref := from.SecretKeyRef; ref != nil {
		sources++
		errs = append(errs, keyRef(ref.Name, ref.Key, p.Child("secretKeyRef"))...)
	}
	if from.FileKeyRef != nil {
		sources++
		errs = append(errs, c.fileKeyRef(from.FileKeyRef, p.Child("fileKeyRef"))...)
	}
	switch {
	case sources == 0:
		errs = append(errs, field.Invalid(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"))
	case v.Value != "":
		errs = append(errs, field.Invalid(p, "", "may not be specified when `value` is not empty"))
	case sources > 1:
		errs = append(errs, field.Invalid(p, "", "may not have more than one field specified at a time"))
	}
	return errs
}

// fieldRef checks a reference to a field of the pod, or to one of its labels or
// annotations by a key in brackets.
func fieldRef(ref *corev1.ObjectFieldSelector, allowed []string, p *field.Path) field.ErrorList {
	if ref.APIVersion == "" {
		return field.ErrorList{field.Required(p.Child("apiVersion"), "")}
	}
	if ref.FieldPath == "" {
		return field.ErrorList{field.Required(p.Child("fieldPath"), "")}
	}
	if err := knownFieldPath(ref.APIVersion, ref.FieldPath); err != nil {
		return field.ErrorList{field.Invalid(p.Child("fieldPath"), ref.FieldPath, "error converting fieldPath: "+err.Error())}
	}
	name, key, ok := subscript(ref.FieldPath)
	switch {
	case !ok:
		return supported(ref.FieldPath, p.Child("fieldPath"), allowed...)
	case name == "metadata.annotations":
		return qualifiedName(strings.ToLower(key), p)
	case name == "metadata.labels":
		return qualifiedName(key, p)
	}
	return field.ErrorList{field.Invalid(p, name, "does not support subscript")}
}

// subscript splits metadata.labels['key'] into its field and key.
func subscript(path string) (name, key string, ok bool) {
	rest, ok := strings.CutSuffix(path, "']")
	if !ok {
		return path, "", false
	}
	name, key, ok = strings.Cut(rest, "['")
	return name, key, ok && name != ""
}

func knownFieldPath(version, path string) error {
	if version != "v1" {
		return fmt.Errorf("unsupported pod version: %s", version)
	}
	if name, _, ok := subscript(path); ok {
		if name == "metadata.annotations" || name == "metadata.labels" {
			return nil
		}
		return fmt.Errorf("field label does not support subscript: %s", path)
	}
	known := append([]string{"metadata.annotations", "metadata.labels", "spec.host", "spec.restartPolicy", "spec.schedulerName", "status.phase"}, envFields...)
	if !slices.Contains(known, path) {
		return fmt.Errorf("field label not supported: %s", path)
	}
	return nil
}

// resourceFieldRef checks a reference to a container's own requests or limits.
// A file must say which container; an environment has one.
func resourceFieldRef(ref *corev1.ResourceFieldSelector, inFile bool, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case inFile && ref.ContainerName == "":
		errs = append(errs, field.Required(p.Child("containerName"), ""))
	case ref.Resource == "":
		errs = append(errs, field.Required(p.Child("resource"), ""))
	case !ofHugePages(ref.Resource):
		errs = append(errs, supported(ref.Resource, p.Child("resource"), resourceFields...)...)
	}
	return append(errs, divisor(ref.Resource, ref.Divisor, p.Child("divisor"))...)
}

func ofHugePages(name string) bool {
	return strings.HasPrefix(name, "limits.hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
}

func divisor(name string, d resource.Quantity, p *field.Path) field.ErrorList {
	if d.IsZero() {
		return nil
	}
	const bytes = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
	values, noun := "", ""
	switch {
	case strings.HasSuffix(name, "s.cpu"):
		values, noun = "1m and 1", "cpu"
	case strings.HasSuffix(name, "s.memory"):
		values, noun = bytes, "memory"
	case strings.HasSuffix(name, "s.ephemeral-storage"):
		values, noun = bytes, "local ephemeral storage"
	case ofHugePages(name):
		values, noun = bytes, "hugepages"
	default:
		return nil
	}
	allowed := strings.Split(strings.ReplaceAll(values, " and ", ", "), ", ")
	return refuse(!slices.Contains(allowed, d.String()),
		field.Invalid(p, name, fmt.Sprintf("only divisor's values %s are supported with the %s resource", values, noun)))
}

func keyRef(name, key string, p *field.Path) field.ErrorList {
	errs := named(name, p.Child("name"), apivalidation.NameIsDNSSubdomain)
	if key == "" {
		return append(errs, field.Required(p.Child("key"), ""))
	}
	return append(errs, invalids(key, p.Child("key"), validation.IsConfigMapKey(key))...)
}

// fileKeyRef checks a reference to a variable in a file on an emptyDir volume.
func (c *podContext) fileKeyRef(ref *corev1.FileKeySelector, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if ref.Key == "" {
		errs = append(errs, field.Required(p.Child("key"), ""))
	} else {
		errs = append(errs, invalids(ref.Key, p.Child("key"), validation.IsRelaxedEnvVarName(ref.Key))...)
	}
	if ref.VolumeName == "" {
		errs = append(errs, field.Required(p.Child("volumeName"), ""))
	} else if v, ok := c.volumes[ref.VolumeName]; !ok {
		errs = append(errs, field.NotFound(p.Child("volumeName"), ref.VolumeName))
	} else if v.EmptyDir == nil {
		errs = append(errs, field.Invalid(p.Child("volumeName"), ref.VolumeName, "referenced volume must be of type emptyDir"))
	}
	if ref.Path == "" {
		return append(errs, field.Required(p.Child("path"), ""))
	}
	return append(errs, localPath(ref.Path, p.Child("path"))...)
}

func envFrom(sources []corev1.EnvFromSource, p *field.Path) field.ErrorList {
	return each(sources, p, func(s *corev1.EnvFromSource, at *field.Path) field.ErrorList {
		var errs field.ErrorList
		if s.Prefix != "" {
			errs = append(errs, invalids(s.Prefix, at.Child("prefix"), validation.IsRelaxedEnvVarName(s.Prefix))...)
		}
		if s.ConfigMapRef != nil {
			errs = append(errs, prefixName(s.ConfigMapRef.Name, at.Child("configMapRef", "name"))...)
		}
		if s.SecretRef != nil {
			errs = append(errs, prefixName(s.SecretRef.Name, at.Child("secretRef", "name"))...)
		}
		return concat(errs,
			refuse(s.ConfigMapRef == nil && s.SecretRef == nil, field.Invalid(p, "", "must specify one of: `configMapRef` or `secretRef`")),
			refuse(s.ConfigMapRef != nil && s.SecretRef != nil, field.Invalid(p, "", "may not have more than one field specified at a time")))
	})
}

// prefixName checks a name as leniently as a generateName, which Kubernetes has
// always done here.
func prefixName(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	return invalids(name, p, apivalidation.NameIsDNSSubdomain(name, true))
}
