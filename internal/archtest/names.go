package archtest

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// vague are words that a package must not be named by (docs/rules/engineering.md#names).
var vague = []string{
	"manager", "helper", "helpers", "util", "utils", "common", "data", "info", "base", "shared", "misc",
}

// suffixes are what a layer adds to the name of an area, so that packages of one area have different names and an
// import needs no alias. Rules, which are imported most, keep the area's own name.
var suffixes = map[string]string{"projections": "views", "httpapi": "api", "usecases": "cases", "jobs": "jobs"}

// engines are packages below the folders of suffixes that belong to no area.
var engines = map[string]string{
	"projections/runner": "runner", "jobs/runner": "jobrunner", "processmanagers/runner": "processrunner",
	"projections/outbox": "outbox", "httpapi/apitest": "apitest",
}

// nameOf is the name that a package of the module has, by its folder.
func nameOf(dir string) string {
	if name, ok := engines[dir]; ok {
		return name
	}
	parent, base := path.Split(dir)
	if suffix, ok := suffixes[strings.TrimSuffix(parent, "/")]; ok {
		return base + suffix
	}
	return base
}

// checkPackageName wants a package to be named by its area and layer, or else by its folder, and an import of our own
// to have no other name than the package. The package's own name before an import, as some tools write it, does no
// harm.
func checkPackageName(s *source) []Violation {
	var found []Violation
	name := strings.TrimSuffix(s.tree.Name.Name, "_test")
	if slices.Contains(vague, name) {
		found = append(found, s.at(s.tree.Name.Pos(), "name", "package %s: name it by its subject", name))
	}
	if want := nameOf(s.dir); name != want && name != "main" {
		found = append(found, s.at(s.tree.Name.Pos(), "name", "package %s must be named %s", name, want))
	}
	for _, spec := range s.tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil || spec.Name == nil || spec.Name.Name == "_" {
			continue
		}
		if dir, own := strings.CutPrefix(imported, Module+"/"); own && spec.Name.Name != nameOf(dir) {
			found = append(found, s.at(spec.Pos(), "name", "%s needs no other name than %s", imported, nameOf(dir)))
		}
	}
	return found
}
