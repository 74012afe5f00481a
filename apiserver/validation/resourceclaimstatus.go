package validation

import (
	"context"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ResourceClaimStatus holds the rules of a write to status: an allocation is
// made or taken back, and never altered.
func ResourceClaimStatus(c, old *resourcev1.ResourceClaim) field.ErrorList {
	p := field.NewPath("status")
	s, was := &c.Status, &old.Status
	errs := metaUpdate(&c.ObjectMeta, &old.ObjectMeta)
	errs = append(errs, sizedSet(s.ReservedFor, resourcev1.ResourceClaimReservedForMaxSize, p.Child("reservedFor"),
		func(r *resourcev1.ResourceClaimConsumerReference) string { return string(r.UID) }, fieldNames, claimConsumer)...)
	allocated := allocatedDevices(s.Allocation)
	errs = append(errs, sizedSet(s.Devices, len(s.Devices), p.Child("devices"), statusDevice, fieldNames,
		func(d *resourcev1.AllocatedDeviceStatus, p *field.Path) field.ErrorList {
			return deviceStatus(d, allocated, p)
		})...)
	errs = append(errs, reservations(c, was, p.Child("reservedFor"))...)
	at := p.Child("allocation")
	switch {
	case s.Allocation == nil:
	case was.Allocation != nil:
		errs = append(errs, declared(refuse(!sameValue(s.Allocation, was.Allocation), field.Invalid(at, nil, "field cannot be modified once set")))...)
	default:
		errs = append(errs, allocation(s.Allocation, requestNames(&c.Spec.Devices), at)...)
	}
	return declaredLast(errs)
}

func claimConsumer(r *resourcev1.ResourceClaimConsumerReference, p *field.Path) field.ErrorList {
	return concat(required(r.Resource, p.Child("resource")), required(r.Name, p.Child("name")), required(r.UID, p.Child("uid")))
}

func reservations(c *resourcev1.ResourceClaim, was *resourcev1.ResourceClaimStatus, p *field.Path) field.ErrorList {
	if len(c.Status.ReservedFor) == 0 {
		return nil
	}
	if c.Status.Allocation == nil {
		return field.ErrorList{field.Forbidden(p, "may not be specified when `allocated` is not set")}
	}
	added := slices.ContainsFunc(c.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool {
		return !slices.Contains(was.ReservedFor, r)
	})
	return refuse(c.DeletionTimestamp != nil && added,
		field.Forbidden(p, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"))
}

// deviceKey names a device, or one share of it.
func deviceKey(driver, pool, device, share string) string {
	key := driver + "/" + pool + "/" + device
	if share != "" {
		key += "/" + share
	}
	return key
}

func statusDevice(d *resourcev1.AllocatedDeviceStatus) string {
	share := ""
	if d.ShareID != nil {
		share = *d.ShareID
	}
	return deviceKey(d.Driver, d.Pool, d.Device, share)
}

func allocatedDevices(a *resourcev1.AllocationResult) sets.Set[string] {
	keys := sets.New[string]()
	if a == nil {
		return keys
	}
	for _, r := range a.Devices.Results {
		share := ""
		if r.ShareID != nil {
			share = string(*r.ShareID)
		}
		keys.Insert(deviceKey(r.Driver, r.Pool, r.Device, share))
	}
	return keys
}

func deviceStatus(d *resourcev1.AllocatedDeviceStatus, allocated sets.Set[string], p *field.Path) field.ErrorList {
	errs := concat(csiDriverName(d.Driver, p.Child("driver")), poolName(d.Pool, p.Child("pool")), dnsLabel(d.Device, p.Child("device")),
		declared(validate.UUID(context.Background(), operation.Operation{}, p.Child("shareID"), d.ShareID, nil)),
		refuse(!allocated.Has(statusDevice(d)), field.Invalid(p, statusDevice(d), "must be an allocated device in the claim")))
	conditions := p.Child("conditions")
	if n := len(d.Conditions); n > resourcev1.AllocatedDeviceStatusMaxConditions {
		errs = append(errs, field.TooMany(conditions, n, resourcev1.AllocatedDeviceStatusMaxConditions))
	}
	errs = append(errs, metav1validation.ValidateConditions(d.Conditions, conditions)...)
	if d.Data != nil && len(d.Data.Raw) > 0 {
		errs = append(errs, driverObject(*d.Data, resourcev1.AllocatedDeviceStatusDataMaxLength, p.Child("data"))...)
	}
	return append(errs, when(d.NetworkData, p.Child("networkData"), networkData)...)
}

func networkData(n *resourcev1.NetworkDeviceData, p *field.Path) field.ErrorList {
	tooLong := func(s string, limit int, p *field.Path) field.ErrorList {
		return declared(refuse(len(s) > limit, field.TooLong(p, "", limit)))
	}
	return concat(tooLong(n.InterfaceName, resourcev1.NetworkDeviceDataInterfaceNameMaxLength, p.Child("interfaceName")),
		sizedSet(n.IPs, resourcev1.NetworkDeviceDataMaxIPs, p.Child("ips"), itself, asIs, func(s *string, p *field.Path) field.ErrorList {
			return validation.IsValidInterfaceAddress(p, *s)
		}),
		tooLong(n.HardwareAddress, resourcev1.NetworkDeviceDataHardwareAddressMaxLength, p.Child("hardwareAddress")))
}

func allocation(a *resourcev1.AllocationResult, names sets.Set[string], p *field.Path) field.ErrorList {
	devices := p.Child("devices")
	return concat(sized(a.Devices.Results, resourcev1.AllocationResultsMaxSize, devices.Child("results"), func(r *resourcev1.DeviceRequestAllocationResult, p *field.Path) field.ErrorList {
		return allocatedDevice(r, names, p)
	}), sized(a.Devices.Config, 2*resourcev1.DeviceConfigMaxSize, devices.Child("config"), func(c *resourcev1.DeviceAllocationConfiguration, p *field.Path) field.ErrorList {
		return concat(declared(oneOf(c.Source, p.Child("source"), resourcev1.AllocationConfigSourceClaim, resourcev1.AllocationConfigSourceClass)),
			requestReferences(c.Requests, names, p.Child("requests")), deviceConfiguration(&c.DeviceConfiguration, p))
	}), when(a.NodeSelector, p.Child("nodeSelector"), nodeSelector))
}

func allocatedDevice(r *resourcev1.DeviceRequestAllocationResult, names sets.Set[string], p *field.Path) field.ErrorList {
	errs := append(requestReference(r.Request, names, p.Child("request")), declared(deviceDriver(r.Driver, p.Child("driver")))...)
	if r.Pool == "" {
		errs = append(errs, declared(required(r.Pool, p.Child("pool")))...)
	} else {
		errs = append(errs, declared(validate.ResourcePoolName(context.Background(), operation.Operation{}, p.Child("pool"), &r.Pool, nil))...)
	}
	return concat(errs, dnsLabel(r.Device, p.Child("device")), bindingConditions(r.BindingConditions, r.BindingFailureConditions, p),
		each(r.Tolerations, p.Child("tolerations"), deviceToleration),
		declared(validate.UUID(context.Background(), operation.Operation{}, p.Child("shareID"), r.ShareID, nil)),
		skippedOperations(r.SkipNodeOperations, p.Child("skipNodeOperations")))
}
