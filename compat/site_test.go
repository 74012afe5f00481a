package compat

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

// The kind Site has two versions: v1 is stored, v1beta1 calls the replicas size.
var (
	siteV1      = schema.GroupVersion{Group: "compat.example.com", Version: "v1"}
	siteV1beta1 = schema.GroupVersion{Group: "compat.example.com", Version: "v1beta1"}
)

func addSites(scheme *runtime.Scheme) {
	scheme.AddKnownTypeWithName(siteV1.WithKind("Site"), &Site{})
	scheme.AddKnownTypeWithName(siteV1.WithKind("SiteList"), &SiteList{})
	scheme.AddKnownTypeWithName(siteV1beta1.WithKind("Site"), &OldSite{})
	scheme.AddKnownTypeWithName(siteV1beta1.WithKind("SiteList"), &OldSiteList{})
	metav1.AddToGroupVersion(scheme, siteV1)
	metav1.AddToGroupVersion(scheme, siteV1beta1)
}

// Site is the version v1.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              SiteSpec   `json:"spec"`
	Status            SiteStatus `json:"status,omitempty"`
}

type SiteSpec struct {
	Replicas int32  `json:"replicas"`
	Image    string `json:"image,omitempty"`
}

type SiteStatus struct {
	Ready      int32              `json:"ready,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Site `json:"items"`
}

// OldSite is the version v1beta1.
type OldSite struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              OldSiteSpec `json:"spec"`
	Status            SiteStatus  `json:"status,omitempty"`
}

type OldSiteSpec struct {
	Size  int32  `json:"size"`
	Image string `json:"image,omitempty"`
}

type OldSiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []OldSite `json:"items"`
}

func (*Site) Hub() {}

func (s *OldSite) ConvertTo(dst conversion.Hub) error {
	out := dst.(*Site)
	out.ObjectMeta, out.Status = s.ObjectMeta, s.Status
	out.Spec = SiteSpec{Replicas: s.Spec.Size, Image: s.Spec.Image}
	return nil
}

func (s *OldSite) ConvertFrom(src conversion.Hub) error {
	in := src.(*Site)
	s.ObjectMeta, s.Status = in.ObjectMeta, in.Status
	s.Spec = OldSiteSpec{Size: in.Spec.Replicas, Image: in.Spec.Image}
	return nil
}

func (s *SiteStatus) copyTo(out *SiteStatus) {
	*out = *s
	out.Conditions = append([]metav1.Condition(nil), s.Conditions...)
}

func (s *Site) DeepCopyObject() runtime.Object {
	out := &Site{TypeMeta: s.TypeMeta, Spec: s.Spec}
	s.DeepCopyInto(&out.ObjectMeta)
	s.Status.copyTo(&out.Status)
	return out
}

func (l *SiteList) DeepCopyObject() runtime.Object {
	out := &SiteList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Site))
	}
	return out
}

func (s *OldSite) DeepCopyObject() runtime.Object {
	out := &OldSite{TypeMeta: s.TypeMeta, Spec: s.Spec}
	s.DeepCopyInto(&out.ObjectMeta)
	s.Status.copyTo(&out.Status)
	return out
}

func (l *OldSiteList) DeepCopyObject() runtime.Object {
	out := &OldSiteList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*OldSite))
	}
	return out
}
