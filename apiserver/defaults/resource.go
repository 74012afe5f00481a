package defaults

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// ResourceClaim fills the requests for devices.
func ResourceClaim(claim *resourcev1.ResourceClaim) {
	deviceClaim(&claim.Spec.Devices)
	if claim.Status.Allocation != nil {
		for i := range claim.Status.Allocation.Devices.Results {
			deviceTolerations(claim.Status.Allocation.Devices.Results[i].Tolerations)
		}
	}
}

// ResourceClaimTemplate fills the claims to be made from it.
func ResourceClaimTemplate(template *resourcev1.ResourceClaimTemplate) {
	deviceClaim(&template.Spec.Spec.Devices)
}

func deviceClaim(claim *resourcev1.DeviceClaim) {
	for i := range claim.Requests {
		if exact := claim.Requests[i].Exactly; exact != nil {
			deviceCount(&exact.AllocationMode, &exact.Count)
			deviceTolerations(exact.Tolerations)
		}
		for j := range claim.Requests[i].FirstAvailable {
			sub := &claim.Requests[i].FirstAvailable[j]
			deviceCount(&sub.AllocationMode, &sub.Count)
			deviceTolerations(sub.Tolerations)
		}
	}
}

// deviceCount asks for exactly one device unless told otherwise.
func deviceCount(mode *resourcev1.DeviceAllocationMode, count *int64) {
	setZero(mode, resourcev1.DeviceAllocationModeExactCount)
	if *mode == resourcev1.DeviceAllocationModeExactCount {
		setZero(count, 1)
	}
}

func deviceTolerations(tolerations []resourcev1.DeviceToleration) {
	for i := range tolerations {
		setZero(&tolerations[i].Operator, resourcev1.DeviceTolerationOpEqual)
	}
}

// PodCertificateRequest fills how long the certificate may live: a day.
func PodCertificateRequest(request *certificatesv1.PodCertificateRequest) {
	setNil(&request.Spec.MaxExpirationSeconds, 86400)
}
