package archtest

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/parsing"
)

// parserNames has the functions and methods that parse, by the package that has them; "*" is any exported name, and a
// name that ends in * any that begins so. What a package's values do, such as base64.StdEncoding.DecodeString, counts
// with the package.
var parserNames = map[string][]string{
	"encoding/json": {"Unmarshal", "NewDecoder"}, "encoding/xml": {"Unmarshal", "NewDecoder"},
	"encoding/csv": {"NewReader"}, "encoding/gob": {"NewDecoder"}, "encoding/asn1": {"Unmarshal*"},
	"encoding/base64": {"Decode*", "NewDecoder"}, "encoding/base32": {"Decode*", "NewDecoder"},
	"encoding/hex": {"Decode*", "NewDecoder"}, "encoding/pem": {"Decode"}, "crypto/x509": {"Parse*"},
	"image": {"Decode*"}, "image/png": {"Decode*"}, "image/jpeg": {"Decode*"}, "image/gif": {"Decode*"},
	"archive/zip": {"NewReader", "OpenReader"}, "archive/tar": {"NewReader"},
	"compress/gzip": {"NewReader"}, "compress/zlib": {"NewReader*"}, "compress/flate": {"NewReader*"},
	"compress/bzip2": {"NewReader"}, "compress/lzw": {"NewReader"},
	"regexp/syntax": {"Parse"}, "mime": {"ParseMediaType"}, "mime/multipart": {"NewReader"},
	"net/mail": {"Parse*", "ReadMessage"}, "net/textproto": {"NewReader"},
	"go/parser": {"Parse*"}, "text/template/parse": {"*"},
	"github.com/dop251/goja": {"Compile*", "Parse*", "New"}, "github.com/dop251/goja/parser": {"Parse*"},
	"github.com/go-routeros/routeros/v3": {"NewClient*", "Dial*"}, "github.com/golang-jwt/jwt/v5": {"Parse*"},
	"golang.org/x/image/font/sfnt": {"Parse*"}, "golang.org/x/image/font/opentype": {"Parse*"},
	"golang.org/x/net/html": {"Parse*", "NewTokenizer*"}, "google.golang.org/protobuf/proto": {"Unmarshal*"},
	"layeh.com/radius": {"Parse*"}, "gopkg.in/yaml.v3": {"Unmarshal", "NewDecoder"},
}

// untouched are folders that no byte from outside reaches in production.
var untouched = []string{"simulators/...", "scripts/...", "internal/archtest"}

// checkParsers refuses a use of a parser in a file that is not in the list of package parsing, so that nobody forgets
// to say who sends the bytes and what bounds the work on them.
func checkParsers(s *source) []Violation {
	if s.test || matchesAny(with(kits, untouched...), s.dir) || listed(s.name) {
		return nil
	}
	var found []Violation
	for _, n := range parserUses(s) {
		found = append(found, s.at(n.Pos(), "parser",
			"name this file in internal/parsing/list.go, with who sends the bytes and what bounds them"))
	}
	return found
}

// listed reports whether a parser of the list works in a file.
func listed(name string) bool {
	return slices.ContainsFunc(parsing.List, func(p parsing.Parser) bool {
		return slices.ContainsFunc(p.Files, func(pattern string) bool { return matches(pattern, name) })
	})
}

// parserUses are the places of a file that name a parser, compile an expression that is not constant, or make a number
// of any length.
func parserUses(s *source) (found []ast.Node) {
	packages := map[string]string{} // by their names in the file
	for _, spec := range s.tree.Imports {
		if name, err := strconv.Unquote(spec.Path.Value); err == nil {
			packages[localName(spec, name)] = name
		}
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			path := packages[root(n.X)]
			if isParser(path, n.Sel.Name) || packages["big"] != "" && n.Sel.Name == "SetString" {
				found = append(found, n)
			}
		case *ast.CallExpr:
			call, ok := n.Fun.(*ast.SelectorExpr)
			if ok && packages[root(call.X)] == "regexp" && strings.Contains(call.Sel.Name, "Compile") &&
				len(n.Args) == 1 && !constant(n.Args[0]) {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

// localName is how a file calls a package: as it says, or by the last part of the path that is no version.
func localName(spec *ast.ImportSpec, path string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	parts := strings.Split(path, "/")
	last := parts[len(parts)-1]
	if len(parts) > 1 && len(last) == 2 && last[0] == 'v' {
		last = parts[len(parts)-2]
	}
	return last
}

// root is the first name of a chain of fields and calls; "" when it does not begin with a name.
func root(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.SelectorExpr:
			e = x.X
		case *ast.CallExpr:
			e = x.Fun
		default:
			return ""
		}
	}
}

// isParser reports whether a name of a package parses.
func isParser(path, name string) bool {
	known := func(known string) bool {
		begin, any := strings.CutSuffix(known, "*")
		return known == name || any && strings.HasPrefix(name, begin)
	}
	return slices.ContainsFunc(parserNames[path], known)
}

// constant reports whether an expression is made of literals and names alone. A name may stand for a variable; what is
// put together by a call or from a field is no constant.
func constant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.Ident:
		return true
	case *ast.BinaryExpr:
		return constant(e.X) && constant(e.Y)
	case *ast.ParenExpr:
		return constant(e.X)
	}
	return false
}
