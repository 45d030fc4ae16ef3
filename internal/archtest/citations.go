package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// CheckCitations follows what comments of Go files, comments of SQL files and Markdown files cite, and reports what
// leads nowhere: a Markdown file that is not in the repository, an anchor that its file does not have, a decision
// without a file, a broken link. A citation of docs/rules or docs/facts in code needs an anchor, since a whole file
// says nothing. It also reports two headings of one file with the same anchor, and documents that nothing links to.
func CheckCitations(repository fs.FS) ([]Violation, error) {
	l := library{documents: map[string]*document{}, places: map[string]bool{".": true}}
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
				linked[place] = true
			}
			if reason := l.refuse(t, c); reason != "" {
				found = append(found, Violation{fmt.Sprintf("%s:%d", t.name, c.line), "citation", reason})
			}
		}
	}
	return append(found, l.faults(linked)...), nil
}

// library is what can be cited.
type library struct {
	documents map[string]*document // Markdown files by path
	places    map[string]bool      // every file and folder
	texts     []text               // what may cite, in the order of the walk
}

// document is one Markdown file.
type document struct {
	anchors map[string]bool
	twice   []string // anchors that a second heading has as well
}

// text is the part of a file in which citations are looked for. Everything else is blank, so that lines keep their
// numbers.
type text struct {
	name     string
	markdown bool
	body     string
}

// skipped are folders that hold no text of ours.
var skipped = []string{".git", "node_modules", "testdata", ".lastmile", "bin"}

// add takes one file or folder in.
func (l *library) add(repository fs.FS, name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if entry.IsDir() && slices.Contains(skipped, entry.Name()) {
		return fs.SkipDir
	}
	l.places[name] = true
	ext := path.Ext(name)
	if entry.IsDir() || !slices.Contains([]string{".go", ".sql", ".md"}, ext) {
		return nil
	}
	raw, err := fs.ReadFile(repository, name)
	if err != nil {
		return err
	}
	t := text{name: name, markdown: ext == ".md", body: string(raw)}
	switch ext {
	case ".go":
		t.body, err = goComments(name, raw)
	case ".sql":
		t.body = sqlComments(t.body)
	case ".md":
		t.body = withoutFences(t.body)
		l.documents[name] = readDocument(t.body)
	}
	l.texts = append(l.texts, t)
	return err
}

// goComments keeps the comments of a Go file on their lines, without slashes and stars.
func goComments(name string, body []byte) (string, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, name, body, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	lines := make([]string, strings.Count(string(body), "\n")+1)
	for _, group := range tree.Comments {
		for _, c := range group.List {
			for i, l := range strings.Split(c.Text, "\n") {
				lines[lineOf(files, c)+i-1] += strings.Trim(l, "/* \t\r")
			}
		}
	}
	return strings.Join(lines, "\n"), nil
}

// lineOf is the line on which a comment begins, from 1.
func lineOf(files *token.FileSet, c *ast.Comment) int { return files.Position(c.Pos()).Line }

// sqlComments keeps what stands behind two dashes.
func sqlComments(body string) string {
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		_, lines[i], _ = strings.Cut(l, "--")
	}
	return strings.Join(lines, "\n")
}

// withoutFences blanks blocks of code: their lines are neither headings nor links.
func withoutFences(body string) string {
	lines, inside := strings.Split(body, "\n"), false
	for i, l := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(l), "```")
		if fence || inside {
			lines[i] = ""
		}
		inside = inside != fence
	}
	return strings.Join(lines, "\n")
}

// Forms of headings.
var (
	heading  = regexp.MustCompile(`(?m)^ {0,3}#{1,6} +(.+?) *#*$`)
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	unslug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// readDocument collects the anchors that GitHub gives the headings.
func readDocument(body string) *document {
	d := &document{anchors: map[string]bool{}}
	for _, m := range heading.FindAllStringSubmatch(body, -1) {
		anchor := slug(m[1])
		if d.anchors[anchor] {
			d.twice = append(d.twice, anchor)
		}
		d.anchors[anchor] = true
	}
	return d
}

// slug is the anchor of a heading: small letters, digits, "-" and "_", a "-" for each space.
func slug(title string) string {
	title = unslug.ReplaceAllString(strings.ToLower(linkText.ReplaceAllString(title, "$1")), "")
	return strings.ReplaceAll(title, " ", "-")
}

// citation is one reference as it was written.
type citation struct {
	line   int
	kind   citationKind
	target string // path, path#anchor, #anchor, or the number of a decision
}

// citationKind is the form of a citation.
type citationKind uint8

// The forms. A mention is a path within a sentence.
const (
	mention citationKind = iota
	link
	decision
)

// Forms of citations. Addresses of the web are matched first, so that nothing within them counts.
var (
	linkForm    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mentionForm = regexp.MustCompile(`(?i)\b[a-z]+://\S+|((?:[\w.-]+/)*[\w-]+\.md\b(?:#[\w-]+)?|` +
		`\b(?:docs/)?(?:rules|facts)/[\w-]+)`)
	decisionForm = regexp.MustCompile(`\bADRs?[\s-]+([0-9]{1,4})\b|\bdocs/adr/([0-9]{4})`)
)

// citations lists what a text cites.
func (t text) citations() []citation {
	var found []citation
	body := t.body
	take := func(form *regexp.Regexp, kind citationKind) {
		for _, at := range form.FindAllStringSubmatchIndex(body, -1) {
			for group := 2; group < len(at); group += 2 {
				if at[group] >= 0 {
					line := 1 + strings.Count(body[:at[group]], "\n")
					found = append(found, citation{line, kind, body[at[group]:at[group+1]]})
				}
			}
		}
	}
	if t.markdown {
		take(linkForm, link)
		body = linkForm.ReplaceAllString(body, "]()")
	}
	take(mentionForm, mention)
	take(decisionForm, decision)
	return found
}

// resolve gives the paths that a citation may mean, the best first: links are relative to their file, mentions to the
// root and within Markdown to their file too. Links to the web give none.
func (l *library) resolve(t text, c citation) []string {
	target, _, _ := strings.Cut(c.target, "#")
	beside := path.Join(path.Dir(t.name), target)
	switch {
	case c.kind == decision:
		return l.decisions(c.target)
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

// decisions are the files of the decision with a number.
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

// refuse says what is wrong with a citation, "" when it leads somewhere.
func (l *library) refuse(t text, c citation) string {
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

// wantsAnchor reports whether code must name one rule or fact of a place.
func wantsAnchor(place string) bool {
	return strings.HasPrefix(place, "docs/rules/") || strings.HasPrefix(place, "docs/facts/")
}

// faults are those of the documents themselves. A link to a folder links to its files.
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
