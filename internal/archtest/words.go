package archtest

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// tics are turns of phrase that a plain sentence does not need.
var tics = regexp.MustCompile(`(?i)\b(tells? whether|nobody's|(is|are) what)\b`)

// checkTics finds tics in comments, also where a tic goes over the end of a line.
func checkTics(s *source) []Violation {
	if s.dir == "internal/archtest" {
		return nil // it speaks about them
	}
	var found []Violation
	for _, group := range s.tree.Comments {
		if tic := tics.FindString(strings.Join(strings.Fields(group.Text()), " ")); tic != "" {
			found = append(found, s.at(group.Pos(), "words", "%q: write a plain sentence", tic))
		}
	}
	return found
}

// filler are words that add nothing to a name beside them.
var filler = strings.Fields(
	`a an the of is are was be to in on for with and or its it this that one from by as at all any
	each their them they who which what has have gives give given makes make lists list tells tell reads read does
	do not no new kind kinds`)

// checkEcho finds comments that only repeat the name, the receiver and the types of their declaration.
func checkEcho(s *source) []Violation {
	var found []Violation
	check := func(name string, doc *ast.CommentGroup, known map[string]bool) {
		if doc != nil && echoes(name, doc.Text(), known) {
			found = append(found, s.at(doc.Pos(), "words", "the comment of %s only repeats the name", name))
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

// docOf returns the comment of a member. The declaration's comment counts when the declaration has one member only.
func docOf(d *ast.GenDecl, own *ast.CommentGroup) *ast.CommentGroup {
	if own == nil && len(d.Specs) == 1 {
		return d.Doc
	}
	return own
}

// plainWord matches the words of a comment, without digits and punctuation.
var plainWord = regexp.MustCompile(`[A-Za-z]+`)

// echoes reports whether a text has only filler and words of the name and its surroundings. A text with a digit or a
// quotation says something.
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

// identifiers returns the stems of all names in a piece of source.
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

// split returns the stems of the words in a name in camel case. Capitals in a row are one word.
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

// stemOf cuts endings off a word, so that "counts" and "count" are equal, and keeps five letters of the rest.
func stemOf(word string) string {
	for _, ending := range []string{"ies", "es", "s", "ed", "ing"} {
		if rest, cut := strings.CutSuffix(word, ending); cut && len(rest) > 2 {
			word = rest
			break
		}
	}
	return word[:min(len(word), 5)]
}
