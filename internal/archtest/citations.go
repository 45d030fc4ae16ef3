package archtest

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// CheckCitations follows the citations in comments of Go files, in comments of SQL files and in Markdown files. It
// reports those that lead nowhere: a Markdown file that is not in the repository, an anchor that its file does not
// have, a decision without a file, a test without a function, a broken link. In code, a citation of docs/rules or
// docs/facts needs an anchor, because a whole file is too much to read. It also reports two headings of one file with
// the same anchor, and documents without a link to them.
func CheckCitations(repository fs.FS) ([]Violation, error) {
	l := library{documents: map[string]*document{}, places: map[string]bool{".": true}, tests: map[string]bool{}}
	if err := fs.WalkDir(repository, ".", func(name string, entry fs.DirEntry, err error) error {
		return l.add(repository, name, entry, err)
	}); err != nil {
		return nil, err
	}
	var found []Violation
	linked := map[string]bool{}
	for _, t := range l.texts {
		for _, c := range t.citations() {
			for _, place := range l.resolve(t, c) {
				linked[place] = linked[place] || place != t.name
			}
			if reason := l.refuse(t, c); reason != "" {
				found = append(found, Violation{fmt.Sprintf("%s:%d", t.name, c.line), "citation", reason})
			}
		}
	}
	return append(found, l.faults(linked)...), nil
}

// resolve returns the paths that a citation may mean, the best first. Links are relative to their file. Mentions are
// relative to the root and, in Markdown, also to their file. Links to the web have no path.
func (l *library) resolve(t text, c citation) []string {
	target, _, _ := strings.Cut(c.target, "#")
	beside := path.Join(path.Dir(t.name), target)
	switch {
	case c.kind == decision:
		return l.decisions(c.target)
	case c.kind == test:
		return nil
	case c.kind == link && (strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:")):
		return nil
	case c.kind == link && target == "":
		return []string{t.name}
	case c.kind == link:
		return []string{beside}
	case t.markdown:
		return []string{path.Clean(target), beside}
	}
	return []string{target}
}

// decisions returns the files in docs/adr with the number; there should be exactly one.
func (l *library) decisions(number string) []string {
	prefix := "docs/adr/" + strings.Repeat("0", 4-len(number)) + number + "-"
	var found []string
	for place := range l.places {
		if strings.HasPrefix(place, prefix) {
			found = append(found, place)
		}
	}
	return found
}

// refuse returns the fault of a citation, "" when it leads somewhere.
func (l *library) refuse(t text, c citation) string {
	if c.kind == test && !l.hasTest(c.target) {
		return c.target + " is no test"
	}
	places := l.resolve(t, c)
	if c.kind == decision && len(places) != 1 {
		return fmt.Sprintf("decision %s has %d files in docs/adr", c.target, len(places))
	}
	if c.kind == decision || len(places) == 0 {
		return ""
	}
	at := slices.IndexFunc(places, func(p string) bool { return l.places[p] })
	if at < 0 {
		return c.target + " is not in the repository"
	}
	_, anchor, _ := strings.Cut(c.target, "#")
	doc := l.documents[places[at]]
	switch {
	case anchor != "" && (doc == nil || !doc.anchors[anchor]):
		return fmt.Sprintf("%s has no anchor %s", places[at], anchor)
	case anchor == "" && !t.markdown && wantsAnchor(places[at]):
		return c.target + " is a whole file of rules or facts: name the anchor"
	}
	return ""
}

// hasTest reports whether a test has the name. A name that ends in "_" stands for all tests that begin with it.
func (l *library) hasTest(name string) bool {
	for have := range l.tests {
		if have == name || strings.HasSuffix(name, "_") && strings.HasPrefix(have, name) {
			return true
		}
	}
	return false
}

// wantsAnchor reports whether a citation of the file in code needs an anchor.
func wantsAnchor(place string) bool {
	return strings.HasPrefix(place, "docs/rules/") || strings.HasPrefix(place, "docs/facts/")
}

// faults returns the faults of the documents themselves. A link to a folder counts as a link to each of its files.
func (l *library) faults(linked map[string]bool) []Violation {
	var found []Violation
	for _, t := range l.texts {
		doc := l.documents[t.name]
		if doc == nil {
			continue
		}
		for _, anchor := range doc.twice {
			found = append(found, Violation{t.name, "citation", "two headings have the anchor " + anchor})
		}
		if strings.HasPrefix(t.name, "docs/") && !linked[t.name] && !linked[path.Dir(t.name)] {
			found = append(found, Violation{t.name, "citation", "nothing links to it"})
		}
	}
	return found
}
