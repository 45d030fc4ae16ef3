package archtest

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// tics are turns of phrase that cost a reader time and say nothing that a plain sentence would not.
var tics = regexp.MustCompile(`(?i)\b(tells? whether|nobody's|(is|are) what)\b`)

// checkTics wants plain sentences in comments.
func checkTics(s *source) []Violation {
	if s.dir == "internal/archtest" {
		return nil // it speaks about them
	}
	var found []Violation
	for _, group := range s.tree.Comments {
		if tic := tics.FindString(strings.Join(strings.Fields(group.Text()), " ")); tic != "" {
			found = append(found, s.at(group.Pos(), "words", "%q: say it plainly", tic))
		}
	}
	return found
}

// filler are words that add nothing to the name beside them.
var filler = strings.Fields(
	`a an the of is are was be to in on for with and or its it this that one from by as at all any
	each their them they who which what has have gives give given makes make lists list tells tell reads read does
	do not no new kind kinds`)

// checkEcho finds comments that only repeat the name, the receiver and the types of what they stand at.
func checkEcho(s *source) []Violation {
	var found []Violation
	check := func(name string, doc *ast.CommentGroup, known map[string]bool) {
		if doc != nil && echoes(name, doc.Text(), known) {
			found = append(found, s.at(doc.Pos(), "words", "the comment of %s only repeats it", name))
		}
	}
	for _, d := range s.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if s.test && isTest(d.Name.Name) {
				continue
			}
			known := identifiers(d.Type)
			if d.Recv != nil {
				for word := range identifiers(d.Recv) {
					known[word] = true
				}
			}
			check(d.Name.Name, d.Doc, known)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					check(spec.Name.Name, docOf(d, spec.Doc), map[string]bool{})
				case *ast.ValueSpec:
					check(spec.Names[0].Name, docOf(d, spec.Doc), map[string]bool{})
				}
			}
		}
	}
	return found
}

// docOf is a member's comment; a declaration's own counts when it has one member only.
func docOf(d *ast.GenDecl, own *ast.CommentGroup) *ast.CommentGroup {
	if own == nil && len(d.Specs) == 1 {
		return d.Doc
	}
	return own
}

// plainWord is a word of a comment.
var plainWord = regexp.MustCompile(`[A-Za-z]+`)

// echoes reports whether a text has no word but filler and those of the name and its surroundings.
func echoes(name, text string, known map[string]bool) bool {
	parts := split(name)
	for _, word := range plainWord.FindAllString(text, -1) {
		word = strings.ToLower(word)
		stem := stemOf(word)
		if !slices.Contains(filler, word) && word != strings.ToLower(name) && !parts[stem] && !known[stem] {
			return false
		}
	}
	return !strings.ContainsAny(text, "0123456789\"`")
}

// identifiers are the stems of all names in a piece of source.
func identifiers(n ast.Node) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if i, ok := n.(*ast.Ident); ok {
			for stem := range split(i.Name) {
				out[stem] = true
			}
		}
		return true
	})
	return out
}

// split gives the stems of the words that a name in camel case is made of.
func split(name string) map[string]bool {
	out := map[string]bool{}
	begin := 0
	runes := []rune(name)
	for i := 1; i <= len(runes); i++ {
		if i == len(runes) || unicode.IsUpper(runes[i]) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			out[stemOf(strings.ToLower(string(runes[begin:i])))] = true
			begin = i
		}
	}
	return out
}

// stemOf cuts the endings off a word, so that "counts" is "count".
func stemOf(word string) string {
	for _, ending := range []string{"ies", "es", "s", "ed", "ing"} {
		if rest, cut := strings.CutSuffix(word, ending); cut && len(rest) > 2 {
			word = rest
			break
		}
	}
	return word[:min(len(word), 5)]
}
