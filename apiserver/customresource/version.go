package customresource

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubesim/kubesim/apiserver/kinds"
	"github.com/kubesim/kubesim/apiserver/openapi"
	"github.com/kubesim/kubesim/apiserver/printers"
)

// Definition is what the versions of a definition share.
type Definition struct {
	crd     *apiextensionsv1.CustomResourceDefinition // as Read returns it
	schemas map[string]func() (*compiled, error)      // by version
	convert converter
	types   func() (managedfields.TypeConverter, error)
	// fingerprint is a hash of the spec.
	fingerprint func() string
}

// Version is one version of a custom resource: the kinds.Custom of its row.
type Version struct {
	*Definition
	apiextensionsv1.CustomResourceDefinitionVersion
}

// Definition prepares a definition whose names are accepted. crd is what Read returns for doc.
func (c *Converters) Definition(crd *apiextensionsv1.CustomResourceDefinition, doc []byte) *Definition {
	d := &Definition{crd: crd, schemas: map[string]func() (*compiled, error){}, convert: c.of(crd)}
	d.types = sync.OnceValues(d.typeConverter)
	d.fingerprint = sync.OnceValue(func() string {
		return fmt.Sprintf("%x", sha256.Sum256([]byte(gjson.GetBytes(doc, "spec").Raw)))
	})
	for i, v := range crd.Spec.Versions {
		d.schemas[v.Name] = sync.OnceValues(func() (*compiled, error) { return compile(doc, i) })
	}
	return d
}

// Rows makes a row of each version that is served.
func (d *Definition) Rows() []*kinds.Kind {
	var out []*kinds.Kind
	for _, v := range d.crd.Spec.Versions {
		if v.Served {
			out = append(out, (&Version{d, v}).row())
		}
	}
	return out
}

// Stored is the row of the version that is stored, whether it is served or not.
func (d *Definition) Stored() *kinds.Kind {
	for _, v := range d.crd.Spec.Versions {
		if v.Storage {
			return (&Version{d, v}).row()
		}
	}
	return nil
}

// typeConverter knows all versions: fields that were set in one stay owned when the
// object is written in another.
func (d *Definition) typeConverter() (managedfields.TypeConverter, error) {
	models := map[string]*spec.Schema{}
	for _, v := range d.crd.Spec.Versions {
		of, err := openapi.Models((&Version{d, v}).row())
		if err != nil {
			return nil, err
		}
		maps.Copy(models, of)
	}
	return managedfields.NewTypeConverter(models, false)
}

// row is the version's row in the table of kinds.
func (v *Version) row() *kinds.Kind {
	names := v.crd.Status.AcceptedNames
	k := &kinds.Kind{
		Group: v.crd.Spec.Group, Version: v.Name, Kind: names.Kind, ListKind: names.ListKind, Resource: names.Plural, Singular: names.Singular,
		ShortNames: names.ShortNames, Categories: names.Categories, Namespaced: v.crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		Verbs: verbs, Terminating: Is(v.crd, apiextensionsv1.Terminating), Unstructured: true, Custom: v, TypeConverter: v.types, ConditionalUpdate: true, Generation: true, StorageVersion: storageVersion(v.crd),
		Deprecated: v.deprecation(),
	}
	for _, f := range v.SelectableFields {
		path := strings.TrimPrefix(f.JSONPath, ".")
		k.Fields = append(k.Fields, kinds.Field{Name: path, Path: path})
	}
	k.Rules = kinds.Rules{Default: v.defaults, Prepare: v.prepare, Validate: v.validate, Warnings: warnings}
	if v.hasStatus() {
		k.Subresources = append(k.Subresources, kinds.Subresource{
			Name: "status", Verbs: rewritable,
			Rules: kinds.Rules{Prepare: prepareStatus, Validate: v.validateStatus, Warnings: warnings},
		})
	}
	if v.hasScale() {
		k.Scale = v.scale()
		k.Subresources = append(k.Subresources, kinds.Subresource{
			Name: "scale", Verbs: rewritable,
			Kind:  schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"},
			Rules: kinds.Rules{Validate: v.validate, Warnings: warnings},
		})
	}
	// A path that does not parse was refused when the definition came.
	if columns, err := printers.Custom(v.AdditionalPrinterColumns); err == nil {
		k.Columns = columns
	}
	return k
}

var rewritable = []string{"get", "patch", "update"}

// verbs are those of a custom resource, in the order in which Kubernetes lists them.
var verbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}

// deprecation is the warning that each answer of a deprecated version carries.
func (v *Version) deprecation() string {
	if !v.Deprecated {
		return ""
	}
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	group, kind := v.crd.Spec.Group, v.crd.Spec.Names.Kind
	best := ""
	for _, other := range v.crd.Spec.Versions {
		if other.Served && !other.Deprecated && version.CompareKubeAwareVersionStrings(v.Name, other.Name) < 0 &&
			(best == "" || version.CompareKubeAwareVersionStrings(other.Name, best) > 0) {
			best = other.Name
		}
	}
	text := fmt.Sprintf("%s/%s %s is deprecated", group, v.Name, kind)
	if best != "" {
		text += fmt.Sprintf("; use %s/%s %s", group, best, kind)
	}
	return text
}

func (v *Version) hasStatus() bool { return v.Subresources != nil && v.Subresources.Status != nil }

func (v *Version) hasScale() bool { return v.Subresources != nil && v.Subresources.Scale != nil }

func (v *Version) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: v.crd.Spec.Group, Version: v.Name}
}

// Coerce implements kinds.Custom.
func (v *Version) Coerce(u *unstructured.Unstructured, report bool) ([]string, error) {
	s, err := v.schemas[v.Name]()
	if err != nil {
		return nil, err
	}
	return coercion{report: report}.coerce(u, s.structural)
}

// FromStored implements kinds.Custom. What is stored may be older than the schema: it
// is pruned and gets defaults like what a client sends.
func (v *Version) FromStored(objs ...*unstructured.Unstructured) error {
	var moved []*unstructured.Unstructured
	for _, u := range objs {
		gv := u.GroupVersionKind().GroupVersion()
		if schemaOf, ok := v.schemas[gv.Version]; ok {
			s, err := schemaOf()
			if err != nil {
				return err
			}
			if _, err := (coercion{stored: true}).coerce(u, s.structural); err != nil {
				return err
			}
			defaulting.Default(u.Object, s.structural)
		}
		if gv != v.groupVersion() {
			moved = append(moved, u)
		}
	}
	return v.move(moved, v.groupVersion())
}

// ToStored implements kinds.Custom.
func (v *Version) ToStored(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	to := v.groupVersion()
	to.Version = storageVersion(v.crd)
	if to == v.groupVersion() {
		return u, nil
	}
	out := u.DeepCopy()
	return out, v.move([]*unstructured.Unstructured{out}, to)
}

// Convertor implements kinds.Custom.
func (v *Version) Convertor() (runtime.ObjectConvertor, error) { return v.convert() }

// move converts objects, and prunes what conversion has added beyond the schema.
func (v *Version) move(objs []*unstructured.Unstructured, to schema.GroupVersion) error {
	if len(objs) == 0 {
		return nil
	}
	s, err := v.schemas[to.Version]()
	if err != nil {
		return err
	}
	if err := v.convert.convert(objs, to); err != nil {
		return err
	}
	for _, u := range objs {
		if _, err := (coercion{}).coerce(u, s.structural); err != nil {
			return err
		}
	}
	return nil
}

// defaults fills what the schema has defaults for.
func (v *Version) defaults(obj runtime.Object) {
	// A schema that does not compile is told of when the object is decoded.
	if s, err := v.schemas[v.Name](); err == nil {
		defaulting.Default(obj.(*unstructured.Unstructured).Object, s.structural)
	}
}
