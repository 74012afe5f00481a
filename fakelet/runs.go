package fakelet

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/clock"

	"github.com/kubesim/kubesim/fakelet/runtime"
	"github.com/kubesim/kubesim/fakelet/runtime/process"
	"github.com/kubesim/kubesim/fakelet/runtime/vfs"
)

// world is what a decision asks about containers beyond the pod's status. All of
// it returns at once: what takes time is begun, and the pod looked at again when
// it is done.
type world interface {
	// result is how a container that the status has running ended, nil if it runs on.
	result(cs *corev1.ContainerStatus) *runtime.Result
	// probe carries out a probe. Nil means not yet.
	probe(c *corev1.Container, cs *corev1.ContainerStatus, kind string, probe *corev1.Probe) *outcome
	// hook carries out a life cycle hook, once. Nil means not yet.
	hook(c *corev1.Container, cs *corev1.ContainerStatus, kind string, h *corev1.LifecycleHandler) *outcome
	// stop tells a container to end. Nil means that it takes its time.
	stop(c *corev1.Container, cs *corev1.ContainerStatus, signal process.Signal) *runtime.Result
}

// outcome is how a probe or a hook went.
type outcome struct {
	ok      bool
	message string
	// steady is true for one that goes the same way until something happens to
	// the container.
	steady bool
}

// runs are the containers that run in the interpreter, or that somebody has looked
// into. Others need none: their plan says all.
type runs struct {
	runtime *runtime.Runtime
	volumes *volumes
	network *network
	clock   clock.WithTicker
	log     *slog.Logger
	wake    func(key string)

	mu   sync.Mutex
	pods map[types.UID]*podRun
}

// podRun is what there is of a pod.
type podRun struct {
	runs *runs
	key  string
	uid  types.UID

	mu       sync.Mutex
	pod      *corev1.Pod
	volumes  map[string]*vfs.Tree
	current  map[string]*run         // by container name
	previous map[string]*runtime.Log // of the run before
}

// run is one run of a container.
type run struct {
	id        string
	container *runtime.Container
	outcomes  map[string]*outcome // of probes and hooks, by kind
	begun     map[string]bool
	stopping  bool
}

// of is what there is of a pod, which is made if need be.
func (r *runs) of(pod *corev1.Pod) *podRun {
	r.mu.Lock()
	p, ok := r.pods[pod.UID]
	if !ok {
		p = &podRun{runs: r, key: keyOf(pod), uid: pod.UID, current: map[string]*run{}, previous: map[string]*runtime.Log{}}
		r.pods[pod.UID] = p
	}
	r.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pod = pod
	return p
}

// known is what there is of a pod, nil if nothing.
func (r *runs) known(uid types.UID) *podRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pods[uid]
}

// drop ends what runs of a pod that is gone.
func (r *runs) drop(uid types.UID) {
	r.mu.Lock()
	p := r.pods[uid]
	delete(r.pods, uid)
	r.mu.Unlock()
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.current {
		if c.container != nil {
			c.container.Close(runtime.Result{Code: exitKilled, Reason: "Error", At: r.clock.Now()})
		}
	}
}

// close ends everything.
func (r *runs) close() {
	r.mu.Lock()
	var uids []types.UID
	for uid := range r.pods {
		uids = append(uids, uid)
	}
	r.mu.Unlock()
	for _, uid := range uids {
		r.drop(uid)
	}
}

// follow starts the scripts that a pod's status has running, and ends those that
// it has not any more.
func (r *runs) follow(ctx context.Context, pod *corev1.Pod) error {
	for _, c := range containersOf(pod) {
		cs := statusOf(&pod.Status, c.Name)
		if cs == nil {
			continue
		}
		if cs.State.Running != nil && planOf(pod, c).Kind == runtime.Script {
			if _, err := r.of(pod).open(ctx, c, cs); err != nil {
				return err
			}
		}
	}
	p := r.known(pod.UID)
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pod = pod
	for name, c := range p.current {
		cs := statusOf(&pod.Status, name)
		if c.container != nil && (cs == nil || cs.State.Running == nil || cs.ContainerID != c.id) {
			ended := runtime.Result{Code: exitKilled, Reason: "Error", At: r.clock.Now()}
			c.container.Close(ended)
		}
	}
	return nil
}

// open returns the run of a container as its status has it, and makes it if need be.
func (p *podRun) open(ctx context.Context, c *corev1.Container, cs *corev1.ContainerStatus) (*run, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.openLocked(ctx, c, cs)
}

func (p *podRun) openLocked(ctx context.Context, c *corev1.Container, cs *corev1.ContainerStatus) (*run, error) {
	current := p.currentLocked(c.Name, cs.ContainerID)
	if current.container != nil {
		return current, nil
	}
	spec, err := p.spec(ctx, c, cs)
	if err != nil {
		return nil, err
	}
	key := p.key
	current.container = p.runs.runtime.Container(spec, func() { p.runs.wake(key) })
	return current, nil
}

// currentLocked is the run with an id. The log of the one before is kept.
func (p *podRun) currentLocked(name, id string) *run {
	current, ok := p.current[name]
	if ok && current.id == id {
		return current
	}
	if ok && current.container != nil {
		p.previous[name] = current.container.Log()
		current.container.Close(runtime.Result{Code: exitKilled, Reason: "Error", At: p.runs.clock.Now()})
	}
	current = &run{id: id, outcomes: map[string]*outcome{}, begun: map[string]bool{}}
	p.current[name] = current
	return current
}

// spec puts together what a container runs with.
func (p *podRun) spec(ctx context.Context, c *corev1.Container, cs *corev1.ContainerStatus) (runtime.Spec, error) {
	pod := p.pod
	env, err := p.runs.volumes.variables(ctx, pod, c)
	if err != nil {
		return runtime.Spec{}, err
	}
	expanded := c.DeepCopy()
	for i, w := range expanded.Command {
		expanded.Command[i] = expandVariables(w, env)
	}
	for i, w := range expanded.Args {
		expanded.Args[i] = expandVariables(w, env)
	}
	spec := runtime.Spec{
		Plan: planOf(pod, expanded), Image: imageName(c.Image), Hostname: hostnameOf(pod), Env: env, Dir: c.WorkingDir, User: userOf(pod, c),
		Stdin: c.Stdin, TTY: c.TTY, Message: c.TerminationMessagePath, FromLog: c.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError,
		CPUs: float64(c.Resources.Limits.Cpu().MilliValue()) / 1000, Memory: c.Resources.Limits.Memory().Value(),
		Network:  p.runs.network.of(pod),
		ReadOnly: c.SecurityContext != nil && c.SecurityContext.ReadOnlyRootFilesystem != nil && *c.SecurityContext.ReadOnlyRootFilesystem,
	}
	if spec.Dir == "" {
		spec.Dir = "/"
	}
	if running := cs.State.Running; running != nil {
		spec.Started = running.StartedAt.Time
	}
	for _, m := range c.VolumeMounts {
		mount := runtime.Mount{Path: expandVariables(m.MountPath, env), Sub: m.SubPath, Tree: p.volume(m.Name), ReadOnly: m.ReadOnly}
		if m.SubPathExpr != "" {
			mount.Sub = expandVariables(m.SubPathExpr, env)
		}
		if mount.Tree != nil {
			if mount.Sub != "" {
				p.prepareSub(mount)
			}
			spec.Mounts = append(spec.Mounts, mount)
		}
	}
	spec.Mounts = append(spec.Mounts, runtime.Mount{Path: "/etc/hosts", Tree: p.hosts(), Sub: "/hosts"})
	return spec, nil
}

// prepareSub makes the directory of a subPath, unless the volume has something there.
func (p *podRun) prepareSub(m runtime.Mount) {
	view := vfs.New(m.Tree)
	if _, err := view.Stat(m.Sub); err != nil {
		_ = view.MkdirAll(m.Sub, 0o755)
	}
}

// hosts is /etc/hosts, as the kubelet manages it.
func (p *podRun) hosts() *vfs.Tree {
	t, ok := p.volumes["/etc/hosts"]
	if ok {
		return t
	}
	t = vfs.NewTree(64<<10, p.runs.clock.Now)
	var b strings.Builder
	b.WriteString("# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n")
	name := hostnameOf(p.pod)
	if p.pod.Spec.Subdomain != "" {
		name = fmt.Sprintf("%s.%s.%s.svc.cluster.local\t%s", name, p.pod.Spec.Subdomain, p.pod.Namespace, name)
	}
	fmt.Fprintf(&b, "%s\t%s\n", p.pod.Status.PodIP, name)
	for _, alias := range p.pod.Spec.HostAliases {
		fmt.Fprintf(&b, "%s\t%s\n", alias.IP, strings.Join(alias.Hostnames, "\t"))
	}
	_ = t.Put("/hosts", []byte(b.String()), 0o644)
	p.put("/etc/hosts", t)
	return t
}

func (p *podRun) put(name string, t *vfs.Tree) {
	if p.volumes == nil {
		p.volumes = map[string]*vfs.Tree{}
	}
	p.volumes[name] = t
}

// volume is a volume of the pod, made once for all its containers.
func (p *podRun) volume(name string) *vfs.Tree {
	if t, ok := p.volumes[name]; ok {
		return t
	}
	for i := range p.pod.Spec.Volumes {
		if vol := &p.pod.Spec.Volumes[i]; vol.Name == name {
			t := p.runs.volumes.tree(p.pod, vol)
			p.put(name, t)
			return t
		}
	}
	return nil
}

func userOf(pod *corev1.Pod, c *corev1.Container) int64 {
	switch {
	case c.SecurityContext != nil && c.SecurityContext.RunAsUser != nil:
		return *c.SecurityContext.RunAsUser
	case pod.Spec.SecurityContext != nil && pod.Spec.SecurityContext.RunAsUser != nil:
		return *pod.Spec.SecurityContext.RunAsUser
	}
	return 0
}

// view is the world of one pod.
type view struct {
	runs *runs
	pod  *corev1.Pod
}

func (v view) run(cs *corev1.ContainerStatus) *run {
	p := v.runs.known(v.pod.UID)
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if current, ok := p.current[cs.Name]; ok && current.id == cs.ContainerID {
		return current
	}
	return nil
}

// result implements world.
func (v view) result(cs *corev1.ContainerStatus) *runtime.Result {
	if r := v.run(cs); r != nil && r.container != nil {
		return r.container.Result()
	}
	return nil
}

// begin starts what takes time under a name, unless that has begun, and takes its
// outcome once it is there.
func (v view) begin(c *corev1.Container, cs *corev1.ContainerStatus, name string, limit time.Duration, do func(ctx context.Context, container *runtime.Container) outcome) *outcome {
	p := v.runs.of(v.pod)
	p.mu.Lock()
	defer p.mu.Unlock()
	current := p.currentLocked(c.Name, cs.ContainerID)
	if done := current.outcomes[name]; done != nil {
		delete(current.outcomes, name)
		delete(current.begun, name)
		return done
	}
	if current.begun[name] {
		return nil
	}
	current.begun[name] = true
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := p.openLocked(ctx, c, cs); err != nil {
		cancel()
		delete(current.begun, name)
		return &outcome{message: err.Error()}
	}
	container := current.container
	stop := context.AfterFunc(container.Context(), cancel)
	timer := v.runs.clock.NewTimer(limit)
	go func() {
		defer timer.Stop()
		select {
		case <-timer.C():
			cancel()
		case <-ctx.Done():
		}
	}()
	go func() {
		o := do(ctx, container)
		stop()
		cancel()
		p.mu.Lock()
		current.outcomes[name] = &o
		p.mu.Unlock()
		v.runs.wake(p.key)
	}()
	return nil
}

// probe implements world.
func (v view) probe(c *corev1.Container, cs *corev1.ContainerStatus, kind string, probe *corev1.Probe) *outcome {
	if o := v.steady(c, cs, probe); o != nil {
		return o
	}
	limit := time.Duration(max(probe.TimeoutSeconds, 1)) * time.Second
	return v.begin(c, cs, kind, limit, func(ctx context.Context, container *runtime.Container) outcome {
		return v.handle(ctx, container, c, probe.Exec, probe.HTTPGet, probe.TCPSocket, probe.GRPC)
	})
}

// steady tells how a probe of a server goes that nobody has touched: the same way
// each time.
func (v view) steady(c *corev1.Container, cs *corev1.ContainerStatus, probe *corev1.Probe) *outcome {
	if probe.Exec != nil {
		return nil
	}
	if r := v.run(cs); r != nil && r.container != nil {
		return nil
	}
	plan := planOf(v.pod, c)
	if plan.Kind == runtime.Script {
		return nil
	}
	host, port, path := v.target(c, probe.HTTPGet, probe.TCPSocket, probe.GRPC)
	if host != v.pod.Status.PodIP {
		return nil
	}
	switch {
	case plan.Kind == runtime.Server && plan.Listens(port):
		if probe.HTTPGet != nil && !plan.Answers(path, !shadows(c)) {
			return nil
		}
		return &outcome{ok: true, steady: true}
	case probe.HTTPGet != nil:
		return &outcome{steady: true, message: fmt.Sprintf("Get \"%s\": dial tcp %s: connect: connection refused", urlOf(probe.HTTPGet, host, port, path), net.JoinHostPort(host, fmt.Sprint(port)))}
	}
	return &outcome{steady: true, message: fmt.Sprintf("dial tcp %s: connect: connection refused", net.JoinHostPort(host, fmt.Sprint(port)))}
}

// shadows is true for a container whose volumes may cover what its image serves.
func shadows(c *corev1.Container) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return !strings.HasPrefix(m.MountPath, "/var/run/secrets/") })
}

func (v view) target(c *corev1.Container, get *corev1.HTTPGetAction, tcp *corev1.TCPSocketAction, grpc *corev1.GRPCAction) (host string, port int, path string) {
	host = v.pod.Status.PodIP
	switch {
	case get != nil:
		if get.Host != "" && get.Host != "localhost" && get.Host != "127.0.0.1" {
			host = get.Host
		}
		path = get.Path
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
		return host, portOf(c, get.Port), path
	case tcp != nil:
		if tcp.Host != "" && tcp.Host != "localhost" && tcp.Host != "127.0.0.1" {
			host = tcp.Host
		}
		return host, portOf(c, tcp.Port), ""
	case grpc != nil:
		return host, int(grpc.Port), ""
	}
	return host, 0, ""
}

// portOf is a port by number or by the name that the container gives it.
func portOf(c *corev1.Container, port intstr.IntOrString) int {
	if port.Type == intstr.Int {
		return port.IntValue()
	}
	at := slices.IndexFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == port.StrVal })
	if at < 0 {
		return port.IntValue()
	}
	return int(c.Ports[at].ContainerPort)
}

func urlOf(get *corev1.HTTPGetAction, host string, port int, path string) string {
	scheme := strings.ToLower(string(get.Scheme))
	if scheme == "" {
		scheme = "http"
	}
	return fmt.Sprintf("%s://%s%s", scheme, net.JoinHostPort(host, fmt.Sprint(port)), path)
}

// handle carries out what a probe or a hook asks for.
func (v view) handle(ctx context.Context, container *runtime.Container, c *corev1.Container, exec *corev1.ExecAction, get *corev1.HTTPGetAction, tcp *corev1.TCPSocketAction, grpc *corev1.GRPCAction) outcome {
	if exec != nil {
		return execOutcome(ctx, container, exec.Command)
	}
	host, port, path := v.target(c, get, tcp, grpc)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		if host == v.pod.Status.PodIP { // which the cache may not know to run yet
			if conn, err := container.Connect(port); err == nil {
				return conn, nil
			}
		}
		return v.runs.network.of(v.pod).Dial(ctx, host, port)
	}
	if get == nil {
		conn, err := dial(ctx, "", "")
		if err != nil {
			return outcome{message: fmt.Sprintf("dial tcp %s: %v", net.JoinHostPort(host, fmt.Sprint(port)), err)}
		}
		_ = conn.Close()
		return outcome{ok: true}
	}
	return httpOutcome(ctx, get, urlOf(get, host, port, path), dial)
}

func execOutcome(ctx context.Context, container *runtime.Container, command []string) outcome {
	var out boundedBuffer
	code, err := container.Exec(ctx, runtime.Command{Args: command, Stdout: &out, Stderr: &out})
	switch {
	case ctx.Err() != nil:
		return outcome{message: fmt.Sprintf("command timed out: %q timed out", strings.Join(command, " "))}
	case err != nil:
		return outcome{message: err.Error()}
	}
	return outcome{ok: code == 0, message: out.String()}
}

func httpOutcome(ctx context.Context, get *corev1.HTTPGetAction, url string, dial func(context.Context, string, string) (net.Conn, error)) outcome {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.Replace(url, "https://", "http://", 1), nil)
	if err != nil {
		return outcome{message: err.Error()}
	}
	request.Header.Set("User-Agent", "kube-probe/1.37")
	for _, h := range get.HTTPHeaders {
		if request.Header.Add(h.Name, h.Value); strings.EqualFold(h.Name, "Host") {
			request.Host = h.Value
		}
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: dial}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	switch {
	case ctx.Err() != nil:
		return outcome{message: fmt.Sprintf("Get %q: context deadline exceeded (Client.Timeout exceeded while awaiting headers)", url)}
	case err != nil:
		return outcome{message: fmt.Sprintf("Get %q: %v", url, err)}
	}
	_ = response.Body.Close()
	if response.StatusCode >= 200 && response.StatusCode < 400 {
		return outcome{ok: true}
	}
	return outcome{message: fmt.Sprintf("HTTP probe failed with statuscode: %d", response.StatusCode)}
}

// boundedBuffer keeps the first bytes of some output.
type boundedBuffer struct {
	mu   sync.Mutex
	data []byte
}

// Write implements io.Writer.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p[:min(len(p), 10<<10-len(b.data))]...)
	return len(p), nil
}

func (b *boundedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.data)
}

// hook implements world.
func (v view) hook(c *corev1.Container, cs *corev1.ContainerStatus, kind string, h *corev1.LifecycleHandler) *outcome {
	limit := time.Hour
	if seconds := v.pod.DeletionGracePeriodSeconds; kind == "preStop" && seconds != nil {
		limit = time.Duration(*seconds) * time.Second
	}
	return v.begin(c, cs, kind, limit, func(ctx context.Context, container *runtime.Container) outcome {
		if h.Sleep != nil {
			timer := v.runs.clock.NewTimer(time.Duration(h.Sleep.Seconds) * time.Second)
			defer timer.Stop()
			select {
			case <-timer.C():
			case <-ctx.Done():
			}
			return outcome{ok: true}
		}
		return v.handle(ctx, container, c, h.Exec, h.HTTPGet, h.TCPSocket, nil)
	})
}

// stop implements world.
func (v view) stop(c *corev1.Container, cs *corev1.ContainerStatus, signal process.Signal) *runtime.Result {
	r := v.run(cs)
	if r == nil || r.container == nil {
		plan := planOf(v.pod, c)
		code := int32(128 + signal)
		if plan.Graceful() && signal == process.SIGTERM {
			code = 0
		}
		return &runtime.Result{Code: code, At: v.runs.clock.Now()}
	}
	if result := r.container.Result(); result != nil {
		return result
	}
	p := v.runs.of(v.pod)
	p.mu.Lock()
	again := r.stopping
	r.stopping = true
	p.mu.Unlock()
	if signal == process.SIGKILL {
		r.container.Close(runtime.Result{Code: exitKilled, Reason: "Error", At: v.runs.clock.Now()})
		return r.container.Result()
	}
	if !again {
		catches := r.container.Catches(signal)
		r.container.Signal(signal)
		if !catches && r.container.Result() == nil {
			r.container.Close(runtime.Result{Code: int32(128 + signal), Reason: "Error", At: v.runs.clock.Now()})
		}
	}
	return r.container.Result()
}

// containersOf are all containers of a pod, ephemeral ones included.
func containersOf(pod *corev1.Pod) []*corev1.Container {
	var out []*corev1.Container
	for i := range pod.Spec.InitContainers {
		out = append(out, &pod.Spec.InitContainers[i])
	}
	for i := range pod.Spec.Containers {
		out = append(out, &pod.Spec.Containers[i])
	}
	for i := range pod.Spec.EphemeralContainers {
		c := corev1.Container(pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		out = append(out, &c)
	}
	return out
}

// statusOf is a container's status, nil if it has none.
func statusOf(status *corev1.PodStatus, name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses, status.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}
