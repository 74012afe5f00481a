package validation

import (
	"encoding/json"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const immutableWhenSet = "field is immutable when `immutable` is set"

// ConfigMap holds the rules of core/v1 ConfigMaps: keys, 1 MiB of values in all,
// and immutability once it was asked for.
func ConfigMap(cm, old *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	if old != nil {
		errs = metaUpdate(&cm.ObjectMeta, &old.ObjectMeta)
		if isTrue(old.Immutable) {
			errs = append(errs, concat(
				refuse(!isTrue(cm.Immutable), field.Forbidden(field.NewPath("immutable"), immutableWhenSet)),
				refuse(!reflect.DeepEqual(cm.Data, old.Data), field.Forbidden(field.NewPath("data"), immutableWhenSet)),
				refuse(!reflect.DeepEqual(cm.BinaryData, old.BinaryData), field.Forbidden(field.NewPath("binaryData"), immutableWhenSet)),
			)...)
		}
	}
	return concat(errs, metaCreate(&cm.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain), configMapData(cm))
}

func configMapData(cm *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for _, key := range sortedKeys(cm.Data) {
		p := field.NewPath("data").Key(key)
		errs = append(errs, invalids(key, p, validation.IsConfigMapKey(key))...)
		if _, twice := cm.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(p, key, "duplicate of key present in binaryData"))
		}
		size += len(cm.Data[key])
	}
	for _, key := range sortedKeys(cm.BinaryData) {
		errs = append(errs, invalids(key, field.NewPath("binaryData").Key(key), validation.IsConfigMapKey(key))...)
		size += len(cm.BinaryData[key])
	}
	return append(errs, refuse(size > corev1.MaxSecretSize, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))...)
}

// Secret holds the rules of core/v1 Secrets: keys, 1 MiB of values in all, the
// keys that its type asks for, a type that stays, and immutability on request.
func Secret(s, old *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	if old != nil {
		errs = concat(metaUpdate(&s.ObjectMeta, &old.ObjectMeta), unchanged(s.Type, old.Type, field.NewPath("type")))
		if isTrue(old.Immutable) {
			errs = append(errs, concat(
				refuse(!isTrue(s.Immutable), field.Forbidden(field.NewPath("immutable"), immutableWhenSet)),
				refuse(!reflect.DeepEqual(s.Data, old.Data), field.Forbidden(field.NewPath("data"), immutableWhenSet)),
			)...)
		}
	}
	return concat(errs, metaCreate(&s.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain), secretData(s), secretType(s))
}

func secretData(s *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	p, size := field.NewPath("data"), 0
	for _, key := range sortedKeys(s.Data) {
		errs = append(errs, invalids(key, p.Key(key), validation.IsConfigMapKey(key))...)
		size += len(s.Data[key])
	}
	return append(errs, refuse(size > corev1.MaxSecretSize, field.TooLong(p, "", corev1.MaxSecretSize))...)
}

func secretType(s *corev1.Secret) field.ErrorList {
	p := field.NewPath("data")
	missing := func(key string) field.ErrorList {
		_, there := s.Data[key]
		return refuse(!there, field.Required(p.Key(key), ""))
	}
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		return required(s.Annotations[corev1.ServiceAccountNameKey],
			field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey))
	case corev1.SecretTypeDockercfg:
		return jsonObject(s, corev1.DockerConfigKey)
	case corev1.SecretTypeDockerConfigJson:
		return jsonObject(s, corev1.DockerConfigJsonKey)
	case corev1.SecretTypeBasicAuth:
		// Either may be left out, or empty; not both.
		if errs := concat(missing(corev1.BasicAuthUsernameKey), missing(corev1.BasicAuthPasswordKey)); len(errs) == 2 {
			return errs
		}
	case corev1.SecretTypeSSHAuth:
		return refuse(len(s.Data[corev1.SSHAuthPrivateKey]) == 0, field.Required(p.Key(corev1.SSHAuthPrivateKey), ""))
	case corev1.SecretTypeTLS:
		return concat(missing(corev1.TLSCertKey), missing(corev1.TLSPrivateKeyKey))
	}
	return nil
}

func jsonObject(s *corev1.Secret, key string) field.ErrorList {
	p := field.NewPath("data").Key(key)
	raw, there := s.Data[key]
	if !there {
		return field.ErrorList{field.Required(p, "")}
	}
	if err := json.Unmarshal(raw, &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(p, "<secret contents redacted>", err.Error())}
	}
	return nil
}

// ServiceAccount holds the rules of core/v1 ServiceAccounts.
func ServiceAccount(sa, old *corev1.ServiceAccount) field.ErrorList {
	return metaBoth(&sa.ObjectMeta, metaOf(old), namespaced, apivalidation.ValidateServiceAccountName)
}
