package discovery

import (
	"encoding/json"
	"net/http"
	"runtime"
	"runtime/debug"

	"k8s.io/apimachinery/pkg/version"
)

// Kubernetes is the release whose API is served.
const Kubernetes = "v1.37.2"

// Version serves /version.
func (h *Handler) Version(w http.ResponseWriter, _ *http.Request) {
	body, err := json.MarshalIndent(info(), "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// info tells of the API's release and of this binary's build.
func info() version.Info {
	v := version.Info{
		Major: "1", Minor: "37", EmulationMajor: "1", EmulationMinor: "37", MinCompatibilityMajor: "1", MinCompatibilityMinor: "36",
		GitVersion: Kubernetes, GitTreeState: "clean", BuildDate: "1970-01-01T00:00:00Z",
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	build, _ := debug.ReadBuildInfo()
	if build == nil {
		return v
	}
	for _, s := range build.Settings {
		switch {
		case s.Key == "vcs.revision":
			v.GitCommit = s.Value
		case s.Key == "vcs.time":
			v.BuildDate = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			v.GitTreeState = "dirty"
		}
	}
	return v
}
