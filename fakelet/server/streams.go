package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/kubesim/kubesim/fakelet/runtime"
)

// streams are what a client has opened for a program. Those that it did not ask
// for are nil.
type streams struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	tty            bool
	// fail tells the client how the program ended.
	fail  func(*metav1.Status) error
	close func()
}

// wanted are the streams that a query asks for, in the terms of the kubelet or of
// the API.
type wanted struct{ stdin, stdout, stderr, tty bool }

func wantedBy(query url.Values) wanted {
	tty := isTrue(query, "tty")
	return wanted{
		stdin: isTrue(query, "input") || isTrue(query, "stdin"), stdout: isTrue(query, "output") || isTrue(query, "stdout"),
		stderr: (isTrue(query, "error") || isTrue(query, "stderr")) && !tty, tty: tty,
	}
}

func (s *Server) exec(w http.ResponseWriter, r *http.Request, pod *corev1.Pod) {
	command := r.URL.Query()["command"]
	if len(command) == 0 {
		http.Error(w, "you must specify at least 1 command for the container", http.StatusBadRequest)
		return
	}
	container, err := s.nodes.Container(r.Context(), pod, r.PathValue("container"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	st, ok := s.open(w, r)
	if !ok {
		return
	}
	defer st.close()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	code, err := container.ExecIn(ctx, runtime.Command{Args: command, Stdin: st.stdin, Stdout: st.stdout, Stderr: st.stderr, TTY: st.tty})
	_ = st.fail(statusOf(code, err))
}

func (s *Server) attach(w http.ResponseWriter, r *http.Request, pod *corev1.Pod) {
	name := r.PathValue("container")
	container, err := s.nodes.Container(r.Context(), pod, name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	st, ok := s.open(w, r)
	if !ok {
		return
	}
	defer st.close()
	once := false
	for i := range pod.Spec.Containers {
		once = once || pod.Spec.Containers[i].Name == name && pod.Spec.Containers[i].StdinOnce
	}
	out := st.stdout
	if out == nil {
		out = io.Discard
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if err := container.Attach(ctx, st.stdin, out, once); err != nil {
		s.log.Debug("Ended an attached session", "pod", pod.Namespace+"/"+pod.Name, "err", err)
	}
	_ = st.fail(statusOf(0, nil))
}

// statusOf says how a program ended, as clients read it.
func statusOf(code int, err error) *metav1.Status {
	switch {
	case err != nil:
		return &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Code: http.StatusInternalServerError,
			Message: fmt.Sprintf("Internal error occurred: error executing command in container: %v", err),
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: err.Error()}}}}
	case code != 0:
		return &metav1.Status{Status: metav1.StatusFailure, Reason: remotecommand.NonZeroExitCodeReason,
			Message: fmt.Sprintf("command terminated with non-zero exit code: exit status %d", code),
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: remotecommand.ExitCodeCauseType, Message: strconv.Itoa(code)}}}}
	}
	return &metav1.Status{Status: metav1.StatusSuccess}
}

// open takes the client's streams, by whichever protocol it speaks.
func (s *Server) open(w http.ResponseWriter, r *http.Request) (*streams, bool) {
	want := wantedBy(r.URL.Query())
	if !want.stdin && !want.stdout && !want.stderr {
		http.Error(w, "you must specify at least 1 of stdin, stdout, stderr", http.StatusBadRequest)
		return nil, false
	}
	var st *streams
	var err error
	if wsstream.IsWebSocketRequest(r) {
		st, err = overWebSocket(w, r, want)
	} else {
		st, err = overSPDY(w, r, want)
	}
	if err != nil {
		s.log.Debug("Failed to open streams", "path", r.URL.Path, "err", err)
		return nil, false
	}
	st.tty = want.tty
	return st, true
}

// overWebSocket has the streams as channels of one connection: input, output,
// errors, the result, the size of the terminal.
func overWebSocket(w http.ResponseWriter, r *http.Request, want wanted) (*streams, error) {
	channel := func(wanted bool, kind wsstream.ChannelType) wsstream.ChannelType {
		if wanted {
			return kind
		}
		return wsstream.IgnoreChannel
	}
	channels := []wsstream.ChannelType{
		channel(want.stdin, wsstream.ReadChannel), channel(want.stdout, wsstream.WriteChannel), channel(want.stderr, wsstream.WriteChannel),
		wsstream.WriteChannel, wsstream.ReadChannel,
	}
	protocol := func(binary bool) wsstream.ChannelProtocolConfig {
		return wsstream.ChannelProtocolConfig{Binary: binary, Channels: channels}
	}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{
		"": protocol(true), "channel.k8s.io": protocol(true), "base64.channel.k8s.io": protocol(false),
		"v4.channel.k8s.io": protocol(true), "v4.base64.channel.k8s.io": protocol(false), remotecommand.StreamProtocolV5Name: protocol(true),
	})
	conn.SetIdleTimeout(4 * time.Hour)
	// That a client goes away is no error worth a line in the log.
	version, opened, err := conn.Open(w, r.WithContext(klog.NewContext(r.Context(), logr.Discard())))
	if err != nil {
		return nil, err
	}
	st := &streams{close: func() { _ = conn.Close() }}
	if want.stdin {
		st.stdin = opened[0]
	}
	if want.stdout {
		st.stdout = opened[1]
	}
	if want.stderr {
		st.stderr = opened[2]
	}
	go func() { _, _ = io.Copy(io.Discard, opened[4]) }()
	st.fail = writeStatus(opened[3], version != "" && version != "channel.k8s.io" && version != "base64.channel.k8s.io")
	return st, nil
}

// writeStatus tells a result: as JSON, or to old clients a failure in words.
func writeStatus(w io.Writer, structured bool) func(*metav1.Status) error {
	return func(status *metav1.Status) error {
		if !structured {
			if status.Status == metav1.StatusSuccess {
				return nil
			}
			_, err := io.WriteString(w, status.Message)
			return err
		}
		data, err := json.Marshal(status)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
}

// overSPDY has a stream of SPDY for each.
func overSPDY(w http.ResponseWriter, r *http.Request, want wanted) (*streams, error) {
	version, err := httpstream.Handshake(r, w, []string{
		remotecommand.StreamProtocolV4Name, remotecommand.StreamProtocolV3Name, remotecommand.StreamProtocolV2Name, remotecommand.StreamProtocolV1Name,
	})
	if err != nil {
		return nil, err
	}
	incoming := make(chan httpstream.Stream, 8)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, sent <-chan struct{}) error {
		go func() {
			<-sent
			incoming <- stream
		}()
		return nil
	})
	if conn == nil {
		return nil, errors.New("the connection could not be upgraded")
	}
	conn.SetIdleTimeout(4 * time.Hour)
	st := &streams{close: func() { _ = conn.Close() }}
	missing := 1 // the one for errors
	for _, one := range []bool{want.stdin, want.stdout, want.stderr, want.tty && version != remotecommand.StreamProtocolV1Name && version != remotecommand.StreamProtocolV2Name} {
		if one {
			missing++
		}
	}
	timer := time.NewTimer(remotecommand.DefaultStreamCreationTimeout)
	defer timer.Stop()
	for ; missing > 0; missing-- {
		select {
		case stream := <-incoming:
			st.take(stream, version == remotecommand.StreamProtocolV4Name)
		case <-timer.C:
			st.close()
			return nil, errors.New("timed out waiting for streams")
		case <-conn.CloseChan():
			return nil, errors.New("the client went away")
		}
	}
	if st.fail == nil {
		st.close()
		return nil, errors.New("the client opened no stream for errors")
	}
	return st, nil
}

func (st *streams) take(stream httpstream.Stream, structured bool) {
	switch stream.Headers().Get(corev1.StreamType) {
	case corev1.StreamTypeStdin:
		st.stdin = stream
	case corev1.StreamTypeStdout:
		st.stdout = stream
	case corev1.StreamTypeStderr:
		st.stderr = stream
	case corev1.StreamTypeError:
		write := writeStatus(stream, structured)
		st.fail = func(status *metav1.Status) error {
			defer stream.Close()
			return write(status)
		}
	case corev1.StreamTypeResize:
		go func() { _, _ = io.Copy(io.Discard, stream) }()
	}
}
