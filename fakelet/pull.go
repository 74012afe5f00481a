package fakelet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
)

// pullTakes is how long the state ErrImagePull is seen before the back-off.
const pullTakes = time.Second

// pull gets a container's image. It is false while that fails.
func (p *pass) pull(c *corev1.Container, cs *corev1.ContainerStatus, field string) bool {
	if err := invalidImage(c.Image); err != nil {
		message := fmt.Sprintf("Failed to apply default image tag %q: %v", c.Image, err)
		if p.first("invalid/" + c.Name + "/" + c.Image) {
			p.tell(corev1.EventTypeWarning, "InspectFailed", message, field)
			p.tell(corev1.EventTypeWarning, "Failed", "Error: InvalidImageName", field)
		}
		p.wait(cs, "InvalidImageName", message)
		return false
	}
	problem := pullProblem(p.pod, c)
	if problem == "" {
		p.tellPulled(c, field)
		return true
	}
	if c.ImagePullPolicy == corev1.PullNever {
		message := fmt.Sprintf("Container image %q is not present with pull policy of Never", c.Image)
		if p.first("never/" + c.Name + "/" + c.Image) {
			p.tell(corev1.EventTypeWarning, "ErrImageNeverPull", message, field)
			p.tell(corev1.EventTypeWarning, "Failed", "Error: ErrImageNeverPull", field)
		}
		p.wait(cs, "ErrImageNeverPull", message)
		return false
	}
	p.failPull(c, cs, field, problem)
	return false
}

// failPull tries in vain, and between two attempts waits.
func (p *pass) failPull(c *corev1.Container, cs *corev1.ContainerStatus, field, problem string) {
	key := "pull/" + c.Name + "/" + c.Image
	a := p.memory[key]
	switch {
	case !p.now.Before(a.next):
		a = p.failed(key, firstBackOff, maxBackOff)
		p.tell(corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", c.Image), field)
		p.tell(corev1.EventTypeWarning, "Failed", fmt.Sprintf("Failed to pull image %q: %s", c.Image, problem), field)
		p.tell(corev1.EventTypeWarning, "Failed", "Error: ErrImagePull", field)
		p.wait(cs, "ErrImagePull", problem)
		p.lookAgain(pullTakes)
	case p.now.Sub(a.at) < pullTakes:
		p.lookAgain(a.at.Add(pullTakes).Sub(p.now))
	default:
		back := fmt.Sprintf("Back-off pulling image %q", c.Image)
		if p.wait(cs, "ImagePullBackOff", back+": ErrImagePull: "+problem) {
			p.tell(corev1.EventTypeNormal, "BackOff", back, field)
			p.tell(corev1.EventTypeWarning, "Failed", "Error: ImagePullBackOff", field)
		}
		p.lookAgain(a.next.Sub(p.now))
	}
	p.decision = "image of " + c.Name + " can't be pulled"
}

func (p *pass) tellPulled(c *corev1.Container, field string) {
	pulled := fmt.Sprintf("Container image %q already present on machine and can be accessed by the pod", c.Image)
	if c.ImagePullPolicy == corev1.PullAlways {
		p.tell(corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", c.Image), field)
		pulled = fmt.Sprintf("Successfully pulled image %q in 0s (0s including waiting). Image size: 0 bytes.", c.Image)
	}
	p.tell(corev1.EventTypeNormal, "Pulled", pulled, field)
}

func invalidImage(image string) error {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return fmt.Errorf("couldn't parse image name %q: %w", image, err)
	}
	return nil
}

// pullProblem is why an image can't be pulled, "" if it can. Every image can, but
// for those that the pod's annotation names, those of a registry under .invalid, a
// domain that never resolves (RFC 6761), and those that plainly don't exist, by
// their name (nginx:does-not-exist) or by a version that nobody released (nginx:1.161).
func pullProblem(pod *corev1.Pod, c *corev1.Container) string {
	image := imageName(c.Image)
	repository, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	host, _, _ := strings.Cut(image, "/")
	prefix := fmt.Sprintf("failed to pull and unpack image %q: failed to resolve reference %q: ", image, image)
	switch {
	case strings.HasSuffix(host, ".invalid"):
		path := strings.TrimSuffix(strings.TrimPrefix(image, host+"/"), ":"+tag)
		return fmt.Sprintf("%sfailed to do request: Head \"https://%s/v2/%s/manifests/%s\": dial tcp: lookup %s: no such host", prefix, host, path, tag, host)
	case fails(pod, c, failImagePull), impossible(repository + ":" + tag), strings.HasPrefix(image, "docker.io/library/") && unreleased(tag):
		return "rpc error: code = NotFound desc = " + prefix + image + ": not found"
	}
	return ""
}

// impossible is true for a name that says of itself that it does not exist.
func impossible(name string) bool {
	name = strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
	return slices.ContainsFunc([]string{"doesnotexist", "doesntexist", "notexist", "nonexist", "nosuch", "notfound", "nonexisting", "invalidtag", "badtag", "wrongtag"},
		func(word string) bool { return strings.Contains(name, word) })
}

// unreleased is true for a version with a number of three or more digits that is no date.
func unreleased(tag string) bool {
	version, _, _ := strings.Cut(tag, "-")
	for part := range strings.SplitSeq(version, ".") {
		if n, err := strconv.Atoi(part); err == nil && n >= 100 && len(part) < 6 {
			return true
		}
	}
	return false
}
