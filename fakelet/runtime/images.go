package runtime

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// image is what is known of an image. The zero value stands for one that nobody
// knows: a server, with the usual tools in /bin.
type image struct {
	name            string
	entrypoint, cmd []string
	dir             string
	ports           []int
	tools           bool     // only tools: a command that is none of them can't be started
	without         []string // tools that it lacks
	servers         []string // programs that are servers
	graceful        bool     // the server ends with 0 when it is told to stop
	memory          int64    // of the idle server
	env             map[string]string
	files           map[string]string
	serve           protocol
	banner          func(p *Plan) []string
	requires        func(env func(string) string) string
}

const mebibyte = 1 << 20

// images are those known by the end of their repository's name.
func images(repository string) image {
	name := path.Base(repository)
	switch name {
	case "busybox", "toybox", "busybox-glibc":
		return shellImage(name, "sh")
	case "alpine", "distroless-shell":
		return shellImage(name, "/bin/sh")
	case "ubuntu", "debian", "centos", "fedora", "bash", "rockylinux", "amazonlinux", "almalinux", "netshoot", "toolbox", "dnsutils", "jessie-dnsutils", "busybox-extras":
		return shellImage(name, "bash")
	case "nginx", "nginx-slim", "nginx-unprivileged", "nginx-hello", "hello", "openresty":
		return nginxImage(name)
	case "httpd", "apache":
		return image{name: name, cmd: []string{"httpd-foreground"}, servers: []string{"httpd-foreground", "httpd"}, dir: "/usr/local/apache2", ports: []int{80}, graceful: true, memory: 6 * mebibyte,
			files: map[string]string{"/usr/local/apache2/htdocs/index.html": "<html><body><h1>It works!</h1></body></html>\n"}, serve: static("/usr/local/apache2/htdocs"),
			banner: lines("AH00558: httpd: Could not reliably determine the server's fully qualified domain name. Set the 'ServerName' directive globally to suppress this message", "[mpm_event:notice] [pid 1:tid 1] AH00489: Apache/2.4.65 (Unix) configured -- resuming normal operations", "[core:notice] [pid 1:tid 1] AH00094: Command line: 'httpd -D FOREGROUND'")}
	case "redis", "valkey", "redis-stack-server", "gb-redis-follower", "redis-slave":
		return image{name: name, entrypoint: []string{"docker-entrypoint.sh"}, cmd: []string{"redis-server"}, servers: []string{"docker-entrypoint.sh", "redis-server", "valkey-server"}, dir: "/data", ports: []int{6379}, graceful: true, memory: 4 * mebibyte,
			serve: redis, banner: lines("1:C * oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo", "1:M * Running mode=standalone, port=6379.", "1:M * Server initialized", "1:M * Ready to accept connections tcp")}
	case "postgres", "postgresql", "timescaledb", "postgis":
		return database(name, "postgres", 5432, "/var/lib/postgresql/data", 20*mebibyte, needs("Error: Database is uninitialized and superuser password is not specified.\n       You must specify POSTGRES_PASSWORD to a non-empty value for the\n       superuser.", "POSTGRES_PASSWORD", "POSTGRES_HOST_AUTH_METHOD", "POSTGRES_PASSWORD_FILE"),
			"LOG:  starting PostgreSQL 17.5 on x86_64-pc-linux-gnu", "LOG:  listening on IPv4 address \"0.0.0.0\", port 5432", "LOG:  database system is ready to accept connections")
	case "mysql":
		return database(name, "mysqld", 3306, "/var/lib/mysql", 400*mebibyte, needs("[ERROR] [Entrypoint]: Database is uninitialized and password option is not specified\n    You need to specify one of the following as an environment variable:\n    - MYSQL_ROOT_PASSWORD\n    - MYSQL_ALLOW_EMPTY_PASSWORD\n    - MYSQL_RANDOM_ROOT_PASSWORD", "MYSQL_ROOT_PASSWORD", "MYSQL_ALLOW_EMPTY_PASSWORD", "MYSQL_RANDOM_ROOT_PASSWORD", "MYSQL_ROOT_PASSWORD_FILE"),
			"[Note] [Entrypoint]: MySQL init process done. Ready for start up.", "[System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections. Version: '8.4.5'  socket: '/var/run/mysqld/mysqld.sock'  port: 3306")
	case "mariadb":
		return database(name, "mariadbd", 3306, "/var/lib/mysql", 90*mebibyte, needs("[ERROR] [Entrypoint]: Database is uninitialized and password option is not specified\n\tYou need to specify one of MARIADB_ROOT_PASSWORD, MARIADB_ROOT_PASSWORD_HASH, MARIADB_ALLOW_EMPTY_ROOT_PASSWORD and MARIADB_RANDOM_ROOT_PASSWORD", "MARIADB_ROOT_PASSWORD", "MYSQL_ROOT_PASSWORD", "MARIADB_ALLOW_EMPTY_ROOT_PASSWORD", "MARIADB_RANDOM_ROOT_PASSWORD", "MARIADB_ROOT_PASSWORD_HASH", "MYSQL_ALLOW_EMPTY_PASSWORD"),
			"[Note] mariadbd: ready for connections.")
	case "mongo":
		return database(name, "mongod", 27017, "/data/db", 90*mebibyte, nil, `{"s":"I","c":"NETWORK","msg":"Waiting for connections","attr":{"port":27017,"ssl":"off"}}`)
	case "memcached":
		return image{name: name, entrypoint: []string{"docker-entrypoint.sh"}, cmd: []string{"memcached"}, servers: []string{"docker-entrypoint.sh", "memcached"}, ports: []int{11211}, memory: 2 * mebibyte, serve: silent, graceful: true}
	case "rabbitmq":
		return database(name, "rabbitmq-server", 5672, "/var/lib/rabbitmq", 120*mebibyte, nil, "[info] <0.9.0> Server startup complete; 4 plugins started.")
	case "pause", "pause-amd64":
		return image{name: name, entrypoint: []string{"/pause"}, servers: []string{"pause"}, graceful: true, memory: 300 << 10, serve: silent, without: []string{"*"}}
	case "agnhost":
		return image{name: name, entrypoint: []string{"/agnhost"}, cmd: []string{"pause"}, servers: []string{"agnhost"}, serve: agnhost, memory: 8 * mebibyte}
	case "liveness":
		return image{name: name, entrypoint: []string{"/server"}, servers: []string{"server"}, ports: []int{8080}, serve: liveness, memory: 4 * mebibyte}
	case "hello-app", "hello-kubernetes":
		return image{name: name, entrypoint: []string{"/hello-app"}, servers: []string{"hello-app"}, ports: []int{8080}, serve: helloApp, memory: 3 * mebibyte, banner: lines("Server listening on port 8080")}
	case "hpa-example":
		return image{name: name, cmd: []string{"apache2-foreground"}, servers: []string{"apache2-foreground"}, ports: []int{80}, serve: busy, memory: 8 * mebibyte, graceful: true}
	case "http-echo":
		return image{name: name, entrypoint: []string{"/http-echo"}, servers: []string{"http-echo"}, ports: []int{5678}, serve: httpEcho, memory: 2 * mebibyte}
	case "echoserver", "echo-server", "whoami", "kuard-amd64", "httpbin", "test-webserver", "serve_hostname", "serve-hostname":
		port := map[string]int{"whoami": 80, "httpbin": 80, "test-webserver": 80, "serve_hostname": 9376, "serve-hostname": 9376}[name]
		if port == 0 {
			port = 8080
		}
		return image{name: name, entrypoint: []string{"/" + name}, servers: []string{name}, ports: []int{port}, serve: echoRequest, memory: 5 * mebibyte}
	case "perl", "python", "node", "golang", "ruby", "php", "openjdk", "eclipse-temurin":
		return image{name: name, cmd: []string{interpreterOf(name)}, tools: false, servers: []string{"httpd"}}
	case "curl":
		return image{name: name, entrypoint: []string{"curl"}}
	case "stress", "stress-ng", "vm-stress":
		return image{name: name, entrypoint: []string{"stress"}}
	case "kubectl":
		return image{name: name, entrypoint: []string{"kubectl"}}
	}
	return image{}
}

func interpreterOf(name string) string {
	return map[string]string{"python": "python3", "golang": "bash", "openjdk": "jshell", "eclipse-temurin": "jshell"}[name]
}

func shellImage(name, shell string) image {
	return image{name: name, cmd: []string{shell}, tools: true, servers: []string{"httpd"}}
}

func nginxImage(name string) image {
	port := 80
	if name == "nginx-unprivileged" {
		port = 8080
	}
	return image{
		name: name, entrypoint: []string{"/docker-entrypoint.sh"}, cmd: []string{"nginx", "-g", "daemon off;"},
		servers: []string{"docker-entrypoint.sh", "nginx", "nginx-debug", "openresty"}, ports: []int{port}, graceful: true, memory: 3 * mebibyte, serve: static("/usr/share/nginx/html"),
		files: map[string]string{
			"/usr/share/nginx/html/index.html": nginxWelcome,
			"/usr/share/nginx/html/50x.html":   "<!DOCTYPE html>\n<html>\n<head>\n<title>Error</title>\n</head>\n<body>\n<h1>An error occurred.</h1>\n</body>\n</html>\n",
			"/etc/nginx/nginx.conf":            "user  nginx;\nworker_processes  auto;\nevents {\n    worker_connections  1024;\n}\nhttp {\n    include       /etc/nginx/mime.types;\n    include /etc/nginx/conf.d/*.conf;\n}\n",
			"/etc/nginx/conf.d/default.conf":   fmt.Sprintf("server {\n    listen       %d;\n    server_name  localhost;\n    location / {\n        root   /usr/share/nginx/html;\n        index  index.html index.htm;\n    }\n}\n", port),
		},
		banner: lines("/docker-entrypoint.sh: /docker-entrypoint.d/ is not empty, will attempt to perform configuration", "/docker-entrypoint.sh: Configuration complete; ready for start up",
			"[notice] 1#1: using the \"epoll\" event method", "[notice] 1#1: start worker processes"),
	}
}

const nginxWelcome = `<!DOCTYPE html>
<html>
<head>
<title>Welcome to nginx!</title>
</head>
<body>
<h1>Welcome to nginx!</h1>
<p>If you see this page, the nginx web server is successfully installed and
working. Further configuration is required.</p>
</body>
</html>
`

func database(name, program string, port int, dir string, memory int64, requires func(func(string) string) string, banner ...string) image {
	return image{
		name: name, entrypoint: []string{"docker-entrypoint.sh"}, cmd: []string{program}, servers: []string{"docker-entrypoint.sh", program},
		ports: []int{port}, graceful: true, memory: memory, serve: silent, requires: requires, banner: lines(banner...), files: map[string]string{dir + "/.keep": ""},
	}
}

// needs asks for one of some variables.
func needs(message string, names ...string) func(func(string) string) string {
	return func(env func(string) string) string {
		if env == nil || slices.ContainsFunc(names, func(n string) bool { return env(n) != "" }) {
			return ""
		}
		return message
	}
}

func lines(text ...string) func(*Plan) []string {
	return func(*Plan) []string { return text }
}

// imageOf is what is known of an image by its full name.
func imageOf(name string) image {
	repository, _, _ := strings.Cut(name, "@")
	if i := strings.LastIndex(repository, ":"); i > strings.LastIndex(repository, "/") {
		repository = repository[:i]
	}
	return images(repository)
}

// isServer is true for a command line that starts the image's server.
func (i image) isServer(argv []string) bool {
	name := path.Base(argv[0])
	if name == "docker-entrypoint.sh" && len(argv) > 1 && !slices.Contains(i.servers, path.Base(argv[1])) && !strings.HasPrefix(argv[1], "-") {
		return false
	}
	return slices.Contains(i.servers, name)
}

func (i image) lacks(tool string) bool {
	return slices.Contains(i.without, "*") || slices.Contains(i.without, tool)
}

// banner is what a server writes when it starts.
func (s *Spec) banner() []string {
	if s.Kind != Server || s.image.banner == nil {
		return nil
	}
	return s.image.banner(&s.Plan)
}

func (s *Spec) graceful() bool { return s.Kind == Server && s.image.graceful }

// Graceful tells whether the plan is a server that ends with 0 when it is stopped.
func (p *Plan) Graceful() bool { return p.Kind == Server && p.image.graceful }

// idleMemory is what the first process takes.
func (s *Spec) idleMemory() int64 {
	switch {
	case s.image.memory > 0 && s.Kind == Server:
		return s.image.memory
	case s.Kind == Server:
		return 16 * mebibyte
	}
	return 512 << 10
}

// IdleMemory is what a container of the plan takes when it does nothing.
func (p *Plan) IdleMemory() int64 { return (&Spec{Plan: *p}).idleMemory() }

// Listens tells whether a server has a port open. One that nobody knows has
// those that its manifest names, or any if it names none.
func (p *Plan) Listens(port int) bool {
	switch {
	case p.Kind != Server:
		return false
	case slices.Contains(p.ports, port) || slices.Contains(p.image.ports, port):
		return true
	}
	return len(p.image.ports) == 0 && (p.image.name == "" || p.image.name == "agnhost") && port > 0
}
