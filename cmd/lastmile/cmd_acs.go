package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
)

// acsCommands has the sub-commands of `lastmile acs`.
type acsCommands struct {
	Files acsFiles `cmd:"" help:"Write what a real GenieACS needs: extension, provisions, presets, environment."`
}

// acsFiles is `lastmile acs files`: the same files for the same settings.
type acsFiles struct {
	Out string `required:"" help:"Directory to write to; it is made when it is missing."`
	URL string `default:"http://127.0.0.1:8080" help:"Of Lastmile's root host, as the host of GenieACS reaches it."`
}

// Run writes the files. genieacs.env has the key of ACS_INTERNAL_KEY, so only its owner may read it.
func (c acsFiles) Run(_ context.Context, p program) error {
	cfg, err := readConfig(p.environ)
	if err != nil {
		return err
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("--url must be an http or https address")
	}
	files, err := genieacs.InstallationFiles(genieacs.Settings{
		Identify: strings.TrimRight(c.URL, "/") + "/internal/cpe/identify", Key: cfg.ACSInternalKey,
		Files: cfg.ACSFSURL,
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path, mode := filepath.Join(c.Out, filepath.FromSlash(name)), os.FileMode(0o644)
		if name == "genieacs.env" {
			mode = 0o600
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make directory: %w", err)
		}
		if err := writeOwned(path, []byte(files[name]), mode); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		if _, err := fmt.Fprintln(p.out, path); err != nil {
			return err
		}
	}
	if cfg.ACSInternalKey.IsZero() {
		_, err = fmt.Fprintln(p.err, "ACS_INTERNAL_KEY is not set: put the key into genieacs.env by hand.")
	}
	return err
}

// writeOwned replaces a file; its mode is set also when it is there already with another one, before it is written.
func writeOwned(path string, content []byte, mode os.FileMode) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, content, mode)
}
