package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	secretPath = regexp.MustCompile(`(?i)(^|/)(\.ssh|\.aws|\.gnupg|\.kube|\.azure|\.password-store|keychains|keyrings)(/|$)|/\.config/(gh|gcloud|op|hub|github-copilot|rclone)(/|$)|(^|/)(\.env([^/r][^/]*)?|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.docker/config\.json|auth\.json|\.claude\.json|\.credentials\.json|id_(rsa|ed25519|ecdsa|dsa)|[^/]*\.(pem|key|p12|pfx|kdbx|jks)|credentials(\.\w+)*|oauth_creds\.json|\.\w+_history|\.vault-token|secrets?\.(ya?ml|json|toml))$|^/etc/(shadow|gshadow|sudoers)|^/proc/[^/]+/(environ|mem)`)
	guardPath  = regexp.MustCompile(`(?i)(^|/)(\.git|\.claude|\.codex|\.opencode|\.gemini|\.qwen|\.copilot|\.husky|\.vscode|\.idea|\.devcontainer)(/|$)|/\.config/(opencode|mcpdeck|git|fish|systemd|autostart)(/|$)|/launchagents(/|$)|(^|/)(\.mcp\.json|opencode\.jsonc?|\.envrc|\.gitmodules|\.gitattributes|\.gitconfig|\.(bash|zsh)\w*|\.z?profile|\.zlog(in|out)|\.claude\.json)$`)
	device     = regexp.MustCompile(`^/dev/(null|stdin|stdout|stderr|tty|fd/\d+|zero|urandom|random)$`)
	socketPath = regexp.MustCompile(`^/dev/(tcp|udp)/(.*)`)
	kernelPath = regexp.MustCompile(`^/(proc|dev|sys)(/|$)`)
)

// anywhere is the folder of a command that may run in any.
const anywhere = "/…"

// enter follows a cd.
func (r *reader) enter(args []value) {
	r.moved = true
	if len(args) != 1 || args[0].unknown || args[0].glob || strings.HasPrefix(args[0].text, "-") || args[0].text == "" {
		r.lose()
		return
	}
	var all []string
	for _, d := range r.absolute(args[0].text) { // the shell remembers the way, the system only where it led
		all = union(all, []string{path.Clean(d), r.resolved(d)})
	}
	r.cwds = all
	r.visited = append(r.visited, all...)
}

// strays reports whether what runs may be outside the project.
func strays(r *reader) bool {
	return r.Root != "" && slices.ContainsFunc(r.cwds, func(d string) bool { return !within(r.Root, r.resolved(d)) })
}

// lose has the command run anywhere.
func (r *reader) lose() {
	r.cwds = []string{anywhere}
	r.visited = append(r.visited, anywhere)
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	if slices.Contains(all, anywhere) {
		return []string{anywhere}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// absolute returns the paths that a path may be, as they are written.
func (r *reader) absolute(p string) (all []string) {
	if path.IsAbs(p) {
		return []string{p}
	}
	for _, d := range r.cwds {
		if within(anywhere, d) {
			all = append(all, path.Join(anywhere, path.Join("/", p)))
		} else {
			all = append(all, d+"/"+p)
		}
	}
	return all
}

// file judges a path that is read (mode 'r'), written ('w') or deleted ('d').
func (r *reader) file(v value, mode byte) {
	if len(v.text) > mostPath {
		r.fact(Opaque, "a path that is too long")
		return
	}
	if v.unknown {
		r.fact(map[byte]Effect{'r': ReadOut, 'w': WriteOut, 'd': WriteOut}[mode], "a path known only when it runs")
		if mode == 'd' {
			r.fact(Delete, "a path known only when it runs")
		}
		r.partly(v, mode)
		return
	}
	if v.text == "" || v.text == "-" && mode == 'r' || mode != 'd' && device.MatchString(v.text) {
		return
	}
	if m := socketPath.FindStringSubmatch(v.text); m != nil {
		r.fact(Net, strings.Replace(m[2], "/", ":", 1))
		return
	}
	for _, p := range r.absolute(v.text) {
		r.spend(1 + len(p)/64)
		if v.glob {
			r.spend(8)
		}
		as := r.resolved(p)
		if at := path.Join(r.resolved(path.Dir(strings.TrimRight(p, "/"))), path.Base(p)); mode == 'd' && at != as && path.Base(p) != ".." && path.Base(p) != "." { // the link goes, not where it leads
			r.path(path.Clean(p), at, within(r.Root, at), v.glob, mode)
		}
		r.path(path.Clean(p), as, within(r.Root, as) && !(v.glob && leaves(v.text)), v.glob, mode)
	}
}

// partly judges what is known of a path that is not.
func (r *reader) partly(v value, mode byte) {
	known, shown := path.Clean(v.text), r.shown(v.text)+"…"
	if named(secretPath, known, v.glob) {
		r.fact(Secret, shown)
	}
	if mode != 'r' && named(guardPath, known, v.glob) {
		r.fact(Guard, shown)
	}
	if kernelPath.MatchString(known) {
		r.fact(Opaque, shown)
	}
}

// leaves reports whether the names that take a glob's place may be in another folder.
func leaves(glob string) bool {
	for name := range strings.SplitSeq(glob, "/") {
		if up, _ := path.Match(name, ".."); up && name[0] == '.' {
			return true
		}
	}
	return strings.Contains(glob, "..")
}

// samples are names that a glob may stand for.
var samples = strings.Fields(`.env .netrc .npmrc .pypirc .pgpass .git-credentials .credentials.json .ssh .aws .gnupg .kube .config .docker
	id_rsa id_ed25519 credentials credentials.json auth.json secrets.yml .git .claude .codex .opencode .gemini .qwen .copilot .husky .vscode
	.idea .devcontainer .mcp.json opencode.json .envrc .gitmodules .gitattributes .gitconfig .bashrc .zshrc .zlogin .zprofile .profile .claude.json`)

// named reports whether a path, or one that a glob stands for, is of a kind. A glob that begins with its
// wildcard is taken for the plain names that it is mostly used for.
func named(kind *regexp.Regexp, p string, glob bool) bool {
	if kind.MatchString(p) {
		return true
	}
	if !glob {
		return false
	}
	names := strings.Split(p, "/")
	if len(names) > 32 {
		return true // too many to look at
	}
	for i, name := range names {
		if at := strings.IndexAny(name, `*?[`); at < 1 {
			continue
		}
		for _, s := range samples {
			if ok, _ := path.Match(strings.ToLower(name), s); ok && kind.MatchString(strings.Join(append(append(slices.Clone(names[:i]), s), names[i+1:]...), "/")) {
				return true
			}
		}
	}
	return false
}

// path judges p, which leads to as.
func (r *reader) path(p, as string, in, glob bool, mode byte) {
	shown, at := r.shown(as), as
	if glob || within(anywhere, as) {
		at = ""
	}
	if named(secretPath, as, glob) || named(secretPath, p, glob) {
		r.fact(Secret, shown)
	} else if kernelPath.MatchString(as) && !device.MatchString(as) {
		r.fact(Opaque, shown)
	}
	for made := range r.links {
		in = in && !within(made, p)
	}
	if in && mode == 'w' && at != "" && r.Shared != nil && r.Shared(at) {
		in, shown = false, shown+", which has other names"
	}
	switch guards := named(guardPath, as, glob) || named(guardPath, p, glob); {
	case mode == 'r' && in:
		r.factAt(Reads, shown, at)
	case mode == 'r':
		r.factAt(ReadOut, shown, at)
	case guards:
		r.fact(Guard, shown)
	case mode == 'd':
		r.factAt(Delete, shown, at)
		if !in || as == r.Root {
			r.factAt(WriteOut, shown, at)
		}
	case in:
		r.factAt(WriteIn, shown, at)
	default:
		r.factAt(WriteOut, shown, at)
	}
}

// shown is a path as the user would write it.
func (r *reader) shown(p string) string {
	switch {
	case p == r.Root:
		return "."
	case within(r.Root, p):
		return p[len(r.Root)+1:]
	case p != r.Home && within(r.Home, p):
		return "~" + p[len(r.Home):]
	}
	return strings.TrimPrefix(p, "/…/")
}

// resolved follows the links of an absolute path, as the system does.
func (r *reader) resolved(p string) string {
	if r.Link == nil || within(anywhere, p) {
		return path.Clean(p)
	}
	done, rest := r.from(p)
	for n := 0; rest != ""; n++ {
		if r.spend(1); n > mostNames {
			return path.Join(anywhere, p)
		}
		name, after, _ := strings.Cut(rest, "/")
		switch rest = after; name {
		case "", ".":
			continue
		case "..":
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, name)
		switch to, linked := r.Link(next); {
		case !linked:
			done = next
		case path.IsAbs(to):
			done, rest = r.from(to + "/" + rest)
		default:
			rest = to + "/" + rest
		}
	}
	return done
}

// mostPath is how long one may be.
const mostPath = 4096

// mostNames are followed in one path.
const mostNames = 128

// from cuts an absolute path where links begin to count. The project's own folder is where it is said to be.
func (r *reader) from(p string) (done, rest string) {
	if rest, below := strings.CutPrefix(p, r.Root+"/"); below && r.Root != "" {
		return r.Root, rest
	}
	if p == r.Root {
		return p, ""
	}
	return "/", p
}
