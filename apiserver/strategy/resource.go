package strategy

import resourcev1 "k8s.io/api/resource/v1"

// ResourceSlice drops the lists of attribute values, an alpha feature.
func ResourceSlice(slice, old *resourcev1.ResourceSlice) {
	if old != nil && hasAttributeLists(old) {
		return
	}
	for _, device := range slice.Spec.Devices {
		for name, a := range device.Attributes {
			a.BoolValues, a.IntValues, a.StringValues, a.VersionValues = nil, nil, nil, nil
			device.Attributes[name] = a
		}
	}
}

func hasAttributeLists(slice *resourcev1.ResourceSlice) bool {
	for _, device := range slice.Spec.Devices {
		for _, a := range device.Attributes {
			if a.BoolValues != nil || a.IntValues != nil || a.StringValues != nil || a.VersionValues != nil {
				return true
			}
		}
	}
	return false
}
