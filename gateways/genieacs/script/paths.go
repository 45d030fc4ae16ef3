package script

import (
	"regexp"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// path refuses a path of declare or clear that is not the organization's to touch, or that does not say so.
func (c *checker) path(e ast.Expression, declares bool) {
	text, whole, ok := beginning(e)
	if !ok {
		c.refuse(e, "the path must be a text, or begin with one")
		return
	}
	root, rest, _ := strings.Cut(text, ".")
	switch root {
	case "Device", "InternetGatewayDevice", "VirtualParameters":
		c.tree(e, root, rest, whole)
	case "DeviceID", "Events":
		if !declares {
			c.refuse(e, "%s cannot be cleared", root)
		}
	case "Tags":
		if c.prefix == "" || !strings.HasPrefix(rest, c.prefix) || strings.ContainsAny(rest, "*[") ||
			!tagForm.MatchString(rest) {
			c.refuse(e, "tags must begin with Tags.%s", c.prefix)
		}
	default:
		c.refuse(e, "paths begin with Device, InternetGatewayDevice, VirtualParameters, DeviceID or Tags")
	}
}

// tagForm matches what is known of a tag in a script.
var tagForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// tree refuses a path that is, or may become, one of ManagementServer. The object below the root must stand there: what
// a script adds later only leads further down.
func (c *checker) tree(at ast.Node, root, rest string, whole bool) {
	first, _, complete := strings.Cut(rest, ".")
	switch {
	case first == "" || strings.ContainsAny(first, "*[") || !complete && !whole:
		c.refuse(at, "the path must name an object below %s", root)
	case strings.Contains(strings.ToLower(first), "managementserver"): // newer devices also say CWMPManagementServer
		c.refuse(at, "%s.%s is not allowed", root, first)
	case strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r > '~' }):
		c.refuse(at, "the path has characters that paths do not have")
	}
}

// beginning gives the text with which the value of an expression begins; whole says that it is all of it. What is not a
// text at its beginning is not ok.
func beginning(e ast.Expression) (text string, whole, ok bool) {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return e.Value.String(), true, true
	case *ast.TemplateLiteral:
		if e.Tag != nil || len(e.Elements) == 0 {
			return "", false, false
		}
		return e.Elements[0].Parsed.String(), len(e.Elements) == 1, true
	case *ast.BinaryExpression:
		if e.Operator != token.PLUS {
			return "", false, false
		}
		left, whole, ok := beginning(e.Left)
		if !ok || !whole {
			return left, false, ok
		}
		if right, rightWhole, ok := beginning(e.Right); ok {
			return left + right, rightWhole, true
		}
		return left, false, true
	}
	return "", false, false
}
