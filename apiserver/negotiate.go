package apiserver

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Media types served.
const (
	mediaJSON     = "application/json"
	mediaYAML     = "application/yaml"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
)

// form is how an answer is to be written.
type form struct {
	media string // one of the media types
	// as is "" for the object itself, or Table, PartialObjectMetadata, PartialObjectMetadataList.
	as     string
	stream bool // a watch
	pretty bool
	// exact is the Content-Type of the answer where it is not plain media.
	exact string
}

func (f form) contentType() string {
	if f.exact != "" {
		return f.exact
	}
	return f.media
}

// plain is true for the form that is stored: a JSON object.
func (f form) plain() bool { return f.media == mediaJSON && f.as == "" && !f.pretty }

// name tells forms apart, for what is encoded once and shared.
func (f form) name() string { return f.media + ";" + f.as }

// negotiate picks the best form that the client accepts. Whole custom resources have
// no form in protobuf, but their metadata and answers such as Status do.
func negotiate(r *http.Request, verb string, custom bool) (form, error) {
	accept := r.Header.Get("Accept")
	stream := verb == "watch"
	pretty := wantsPretty(r)
	if accept == "" || accept == "*/*" || accept == mediaJSON {
		return form{media: mediaJSON, stream: stream, pretty: pretty}, nil
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		if f, ok := acceptable(clause, verb); ok && !(custom && f.media == mediaProtobuf && f.as == "") {
			f.stream, f.pretty = stream, pretty
			return f, nil
		}
	}
	types := []string{mediaJSON, mediaYAML, mediaProtobuf}
	if custom {
		return form{media: mediaJSON}, statusError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, nil,
			"only the following media types are accepted: %s", strings.Join(types, ", "))
	}
	if verb == "list" || verb == "watch" {
		types = append(types, mediaJSON+";stream=watch", mediaProtobuf+";stream=watch")
	}
	err := statusError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, &metav1.StatusDetails{},
		"406: Not Acceptable\n\nAvailable representations: %s", strings.Join(types, ", "))
	return form{media: mediaJSON}, err
}

// wantsPretty is true when the answer is for people: the query says so, or the
// client is one that they use by hand.
func wantsPretty(r *http.Request) bool {
	if v := r.URL.Query().Get("pretty"); v != "" {
		pretty, err := strconv.ParseBool(v)
		return err == nil && pretty
	}
	for _, prefix := range []string{"curl", "Wget", "Mozilla/5.0"} {
		if strings.HasPrefix(r.UserAgent(), prefix) {
			return true
		}
	}
	return false
}

func acceptable(c goautoneg.Accept, verb string) (form, bool) {
	f := form{as: c.Params["as"]}
	switch {
	case c.Type == "*" || c.Type == "application" && (c.SubType == "json" || c.SubType == "*"):
		f.media = mediaJSON
	case c.Type == "application" && c.SubType == "yaml" && verb != "watch":
		f.media = mediaYAML
	case c.Type == "application" && c.SubType == "vnd.kubernetes.protobuf":
		f.media = mediaProtobuf
	default:
		return f, false
	}
	if f.as == "" {
		return f, true
	}
	known := map[string]bool{
		"Table":                     true,
		"PartialObjectMetadata":     verb != "list",
		"PartialObjectMetadataList": verb == "list",
	}
	ok := known[f.as] && c.Params["g"] == metav1.GroupName && (c.Params["v"] == "v1" || c.Params["v"] == "v1beta1")
	return f, ok && !(f.as == "Table" && f.media == mediaProtobuf)
}

// mediaOf reads a request's Content-Type.
func mediaOf(r *http.Request) (string, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return mediaJSON, nil
	}
	media, _, err := mime.ParseMediaType(header)
	if err != nil {
		return "", apierrors.NewBadRequest("Content-Type: " + err.Error())
	}
	return media, nil
}
