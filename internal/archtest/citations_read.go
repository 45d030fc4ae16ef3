package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// library is everything that can be cited, and every text that may cite.
type library struct {
	documents map[string]*document // Markdown files by path
	places    map[string]bool      // every file and folder
	tests     map[string]bool      // every function of a test file that the go command runs
	texts     []text               // Go, SQL and Markdown files, in the order of the walk
}

// document is the list of anchors of one Markdown file.
type document struct {
	anchors map[string]bool
	twice   []string // anchors that a second heading has as well
}

// text is the part of a file that is searched for citations. All other lines are blank, so that line numbers stay
// right.
type text struct {
	name     string
	markdown bool
	body     string
}

// skipped are folders without texts of our own.
var skipped = []string{".git", "node_modules", "testdata", ".lastmile", "bin"}

// add takes one file or folder into the library, as a function for fs.WalkDir.
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
		t.body, err = l.goComments(name, raw)
	case ".sql":
		t.body = sqlComments(t.body)
	case ".md":
		t.body = withoutFences(t.body)
		l.documents[name] = readDocument(t.body)
	}
	l.texts = append(l.texts, t)
	return err
}

// goComments keeps the comments of a Go file on their lines, without slashes and stars, and notes the file's tests.
func (l *library) goComments(name string, body []byte) (string, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, name, body, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasSuffix(name, "_test.go") && isTest(f.Name.Name) {
			l.tests[f.Name.Name] = true
		}
	}
	lines := make([]string, strings.Count(string(body), "\n")+1)
	for _, group := range tree.Comments {
		for _, c := range group.List {
			first := files.Position(c.Pos()).Line - 1
			for i, line := range strings.Split(c.Text, "\n") {
				lines[first+i] += strings.Trim(line, "/* \t\r")
			}
		}
	}
	return strings.Join(lines, "\n"), nil
}

// sqlComments keeps the rest of each line after two dashes.
func sqlComments(body string) string {
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		_, lines[i], _ = strings.Cut(l, "--")
	}
	return strings.Join(lines, "\n")
}

// withoutFences makes the lines of fenced code blank, since they have neither headings nor links.
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

// The forms of a heading and of its anchor.
var (
	heading  = regexp.MustCompile(`(?m)^ {0,3}#{1,6} +(.+?) *#*$`)
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	unslug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// readDocument collects the anchors that GitHub makes of the headings.
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

// slug makes the anchor of a heading as GitHub does: small letters, digits, "-", "_", and a "-" for each space.
func slug(title string) string {
	title = unslug.ReplaceAllString(strings.ToLower(linkText.ReplaceAllString(title, "$1")), "")
	return strings.ReplaceAll(title, " ", "-")
}

// citation is one reference to a document, decision or test.
type citation struct {
	line   int
	kind   citationKind
	target string // path, path#anchor, #anchor, number of a decision, or name of a test
}

// citationKind is the form of a citation, which decides how its target is found.
type citationKind uint8

// The forms of citations. A mention is a path within a sentence. A test is recognised in Markdown only; a name that
// ends in "_" stands for all tests that begin with it.
const (
	mention citationKind = iota
	link
	decision
	test
)

// The forms of citations as text. mentionForm matches web addresses first, so that no part of them counts as a mention.
var (
	linkForm    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mentionForm = regexp.MustCompile(`(?i)\b[a-z]+://\S+|((?:[\w.-]+/)*[\w-]+\.md\b(?:#[\w-]+)?|` +
		`\b(?:docs/)?(?:rules|facts)/[\w-]+)`)
	decisionForm = regexp.MustCompile(`\bADRs?[\s-]+([0-9]{1,4})\b|\bdocs/adr/([0-9]{4})`)
	testForm     = regexp.MustCompile(`\b(Test[A-Z]\w*_\w*)`)
)

// citations returns the citations of a text, links before mentions.
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
		take(testForm, test)
		body = linkForm.ReplaceAllString(body, "]()")
	}
	take(mentionForm, mention)
	take(decisionForm, decision)
	return found
}
