package validation

import (
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// CSIDriver holds the rules of storage.k8s.io/v1 CSIDrivers.
func CSIDriver(d, old *storagev1.CSIDriver) field.ErrorList {
	s, p := &d.Spec, field.NewPath("spec")
	errs := concat(metaEither(&d.ObjectMeta, metaOf(old), clusterScoped, apivalidation.NameIsDNSSubdomain),
		refuse(s.AttachRequired == nil, field.Required(p.Child("attachedRequired"), "")), // sic
		refuse(s.PodInfoOnMount == nil, field.Required(p.Child("podInfoOnMount"), "")),
		refuse(s.StorageCapacity == nil, field.Required(p.Child("storageCapacity"), "")),
		when(s.FSGroupPolicy, p.Child("fsGroupPolicy"), func(v *storagev1.FSGroupPolicy, p *field.Path) field.ErrorList {
			return supported(*v, p, storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
		}),
		tokenRequests(s.TokenRequests, p.Child("tokenRequests")))
	for _, mode := range s.VolumeLifecycleModes {
		errs = append(errs, supported(mode, p.Child("volumeLifecycleModes"), storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral)...)
	}
	errs = append(errs, when(s.NodeAllocatableUpdatePeriodSeconds, p.Child("nodeAllocatableUpdatePeriodSeconds"), func(v *int64, p *field.Path) field.ErrorList {
		return refuse(*v < 10, field.Invalid(p, *v, "must be greater than or equal to 10 seconds"))
	})...)
	if old == nil {
		return errs
	}
	return concat(errs, unchanged(s.AttachRequired, old.Spec.AttachRequired, p.Child("attachedRequired")),
		unchanged(s.VolumeLifecycleModes, old.Spec.VolumeLifecycleModes, p.Child("volumeLifecycleModes")))
}

func tokenRequests(list []storagev1.TokenRequest, p *field.Path) field.ErrorList {
	audiences := sets.New[string]()
	return each(list, p, func(r *storagev1.TokenRequest, p *field.Path) field.ErrorList {
		errs := refuse(audiences.Has(r.Audience), field.Duplicate(p.Child("audience"), r.Audience))
		audiences.Insert(r.Audience)
		if r.ExpirationSeconds == nil {
			return errs
		}
		return append(errs, tokenSeconds(*r.ExpirationSeconds, p.Child("expirationSeconds"))...)
	})
}

// CSINode holds the rules of storage.k8s.io/v1 CSINodes. A driver that stays on
// the node stays as it is.
func CSINode(n, old *storagev1.CSINode) field.ErrorList {
	p, names := field.NewPath("spec", "drivers"), sets.New[string]()
	errs := append(metaEither(&n.ObjectMeta, metaOf(old), clusterScoped, apivalidation.NameIsDNSSubdomain),
		each(n.Spec.Drivers, p, func(d *storagev1.CSINodeDriver, p *field.Path) field.ErrorList {
			errs := append(csiNodeDriver(d, p), refuse(names.Has(d.Name), field.Duplicate(p.Child("name"), d.Name))...)
			names.Insert(d.Name)
			return errs
		})...)
	if old == nil {
		return errs
	}
	return append(errs, each(n.Spec.Drivers, p, func(d *storagev1.CSINodeDriver, at *field.Path) field.ErrorList {
		for i := range old.Spec.Drivers {
			was := old.Spec.Drivers[i].DeepCopy()
			was.Allocatable = d.Allocatable
			if was.Name == d.Name && !sameValue(*was, *d) {
				return field.ErrorList{field.Invalid(at, byFieldName(d), immutable)}
			}
		}
		return nil
	})...)
}

func csiNodeDriver(d *storagev1.CSINodeDriver, p *field.Path) field.ErrorList {
	keys := p.Child("topologyKeys")
	errs := concat(csiDriverName(d.Name, p.Child("name")), required(d.NodeID, p.Child("nodeID")),
		refuse(len(d.NodeID) > maxNodeID, field.Invalid(p.Child("nodeID"), d.NodeID, "nodeID length must be less than 256")))
	if d.Allocatable != nil && d.Allocatable.Count != nil {
		errs = append(errs, nonNegative(*d.Allocatable.Count, p.Child("allocatable", "count"))...)
	}
	seen := sets.New[string]()
	return append(errs, each(d.TopologyKeys, keys, func(key *string, p *field.Path) field.ErrorList {
		errs := append(refuse(seen.Has(*key), field.Duplicate(p, *key)), qualifiedName(*key, p)...)
		seen.Insert(*key)
		return errs
	})...)
}
