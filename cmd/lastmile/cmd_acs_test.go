package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestACSFiles_AreWrittenForARealServer(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	env := filepath.Join(out, "genieacs.env")
	if err := os.WriteFile(env, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(env, 0o666); err != nil { //nolint:gosec // an old file that everybody reads
		t.Fatal(err)
	}
	var printed, errs bytes.Buffer
	p := program{
		environ: []string{"ACS_INTERNAL_KEY=a-key-of-the-hook", "ACS_FS_URL=http://10.0.0.3:7567"},
		out:     &printed, err: &errs,
	}
	args := []string{"acs", "files", "--out", out, "--url", "http://10.0.0.2:8080/"}
	for range 2 {
		if code := p.run(t.Context(), args); code != exitOK {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
	}
	text, err := os.ReadFile(env)
	want := "LASTMILE_IDENTIFY_URL=http://10.0.0.2:8080/internal/cpe/identify\n" +
		"LASTMILE_INTERNAL_KEY=a-key-of-the-hook\nGENIEACS_FS_URL_PREFIX=http://10.0.0.3:7567/\n"
	if err != nil || !strings.HasSuffix(string(text), want) {
		t.Errorf("%s, %v", text, err)
	}
	if info, err := os.Stat(env); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key can be read by others: %v, %v", info.Mode(), err)
	}
	for _, name := range []string{"README.md", "cwmp.auth", "ext/lastmile.js", "provisions/lastmile-health.js"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil || !strings.Contains(printed.String(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if strings.Contains(printed.String()+errs.String(), "a-key-of-the-hook") {
		t.Error("the key was printed")
	}
	p.environ = []string{}
	if code := p.run(t.Context(), args); code != exitOK || !strings.Contains(errs.String(), "ACS_INTERNAL_KEY") {
		t.Errorf("without a key: %d, %s", code, errs.String())
	}
	if code := p.run(t.Context(), []string{"acs", "files", "--out", out, "--url", "10.0.0.2"}); code == exitOK {
		t.Error("an address without http was taken")
	}
}

func TestSimulateACS_DevicesInformByThemselves(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	printed, out := io.Pipe()
	ended := make(chan int, 1)
	var errs logBuffer
	go func() {
		p := program{environ: []string{}, out: out, err: &errs}
		ended <- p.run(ctx, strings.Fields("simulate acs --addr 127.0.0.1:0 --files-addr 127.0.0.1:0 --devices 3"))
		_ = out.Close()
	}()
	lines := bufio.NewReader(printed)
	url, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	url = strings.TrimSpace(url)
	for _, path := range []string{"/sim/idle", "/devices/?projection=_id"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if n := strings.Count(string(text), `"_id"`); path != "/sim/idle" && n != 3 {
			t.Errorf("%d devices: %s", n, text)
		}
	}
	cancel()
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	p := program{environ: []string{"APP_ENV=production"}, out: io.Discard, err: &errs}
	if code := p.run(t.Context(), []string{"simulate", "acs"}); code == exitOK {
		t.Error("production simulates")
	}
}
