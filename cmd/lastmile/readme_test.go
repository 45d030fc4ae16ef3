package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// typed is a command of a page with what the page says that it prints, line by line; "…" there stands for any text.
type typed struct {
	command string
	prints  []string
}

// typedIn reads the commands of one chapter of a page: lines that begin with "$", and what follows until the next one.
// A line that ends in a backslash goes on in the next.
func typedIn(t *testing.T, file, title string) []typed {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## "+title+"\n")
	chapter, _, _ := strings.Cut(rest, "\n## ")
	if !found {
		t.Fatalf("%s has no chapter %q", file, title)
	}
	var list []typed
	for line := range strings.Lines(chapter) {
		line, code := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		command, begins := strings.CutPrefix(line, "$ ")
		last := len(list) - 1
		switch {
		case !code:
		case begins:
			list = append(list, typed{command: command})
		case last >= 0 && strings.HasSuffix(list[last].command, `\`):
			list[last].command += "\n" + line
		case last >= 0:
			list[last].prints = append(list[last].prints, strings.TrimSpace(line))
		}
	}
	return list
}

// TestReadme_ItsWalksGoAsItSays types the commands of README's first walk, of a customer's device and of a customer's
// circle into a shell, beside a demo, and compares what they print with the page. The sign-ins by hand of
// docs/access.md follow where radclient is installed.
func TestReadme_ItsWalksGoAsItSays(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "curl", "sed", "grep"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	list := slices.Concat(typedIn(t, readmeFile, "A first walk"), typedIn(t, readmeFile, "A customer's device"),
		typedIn(t, readmeFile, "A customer's circle"))
	if len(list) < 31 {
		t.Fatalf("%d commands were found", len(list))
	}
	signIns := typedIn(t, accessFile, "Trying a sign-in")
	if len(signIns) < 4 {
		t.Fatalf("%d sign-ins were found", len(signIns))
	}
	k := newPrivateKit(t, "RADIUS_ACCT_ADDR="+freePort(t)) // the screen does not have this port
	k.demo(func() {
		k.typesAndCompares(list)
		if _, err := exec.LookPath("radclient"); err == nil {
			k.typesAndCompares(signIns)
		}
	})
}

// typesAndCompares types commands, and compares what each prints with what its page says.
func (k *kit) typesAndCompares(list []typed) {
	k.t.Helper()
	parts := strings.Split(k.types(list), mark)
	for i, one := range list {
		if i+1 >= len(parts) {
			k.t.Fatalf("the shell stopped at: %s\n%s", one.command, parts[len(parts)-1])
		}
		if !printed(parts[i], one.prints) {
			k.t.Errorf("%s\nprints\n%s\nits page says\n%s", one.command, parts[i], strings.Join(one.prints, "\n"))
		}
	}
}

// mark stands between what two commands print.
const mark = "\n=== next command\n"

// shellPatience bounds the time in which all commands of a page have to end.
const shellPatience = 5 * time.Minute

// types has a shell run commands, with the addresses of this demo in the place of the usual ones. A command that fails,
// or a call that is answered with a failure, ends the shell.
func (k *kit) types(list []typed) string {
	k.t.Helper()
	_, port, err := net.SplitHostPort(k.addr)
	if err != nil {
		k.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(k.screen, "  Payment provider ")
	provider, _, _ := strings.Cut(strings.TrimSpace(rest), "/sim/")
	_, rest, _ = strings.Cut(k.screen, "| radclient -x ")
	radius, _, _ := strings.Cut(rest, " ")
	usual := strings.NewReplacer("lastmile.localhost:8080", "lastmile.test:"+port, "http://127.0.0.1:8090", provider,
		"127.0.0.1:1812", radius, "127.0.0.1:1813", k.config().RadiusAcctAddr)
	script := strings.Builder{}
	fmt.Fprintf(&script, "set -euo pipefail\ncurl() { command curl --fail-with-body "+
		"--resolve demo.lastmile.test:%[1]s:127.0.0.1 --resolve lastmile.test:%[1]s:127.0.0.1 \"$@\"; }\n", port)
	for _, one := range list {
		fmt.Fprintf(&script, "%s\nprintf '%%s' '%s'\n", usual.Replace(one.command), mark)
	}
	file := filepath.Join(k.t.TempDir(), "typed.sh")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		k.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(k.t.Context(), shellPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "bash", file).CombinedOutput() //nolint:gosec // the page is of this repository
	if err != nil {
		k.t.Errorf("the shell: %v", err)
	}
	return string(out)
}

// printed reports whether a text is as the lines say, in their order.
func printed(text string, lines []string) bool {
	parts := strings.Split(strings.Join(lines, "…"), "…")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile(`(?s)` + strings.Join(parts, ".*")).MatchString(text)
}
