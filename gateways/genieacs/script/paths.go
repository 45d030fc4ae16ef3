package script

import (
	"regexp"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// path refuses a path of declare or clear that is not the organization's to touch, or that does not say so. Values says
// that the script may come to know what stands there.
func (c *checker) path(e ast.Expression, declares, values bool) {
	text, whole := c.written(e)
	root, rest, _ := strings.Cut(text, ".")
	switch root {
	case "":
		c.refuse(e, "the path must be a text, or begin with one")
	case "Device", "InternetGatewayDevice", "VirtualParameters":
		switch leaf := rest[strings.LastIndexByte(rest, '.')+1:]; {
		case !whole:
			c.refuse(e, "a path is made of texts and numbers: write +i for a variable")
		case values && strings.Contains(leaf, "*"):
			c.refuse(e, "the last part of a path whose value is read or written must be a name")
		case values && secretForm.MatchString(leaf):
			c.refuse(e, "%s is a password or a key", leaf)
		default:
			c.tree(e, root, rest)
		}
	case "DeviceID", "Events":
		if !declares {
			c.refuse(e, "%s cannot be cleared", root)
		}
	case "Tags":
		switch {
		case c.prefix == "" || !strings.HasPrefix(rest, c.prefix) || strings.ContainsAny(rest, "*[") ||
			!tagForm.MatchString(rest):
			c.refuse(e, "tags must begin with Tags.%s", c.prefix)
		case signForm.MatchString(rest):
			c.refuse(e, "a tag must not have 0x before two digits or capitals")
		}
	default:
		c.refuse(e, "paths begin with Device, InternetGatewayDevice, VirtualParameters, DeviceID or Tags")
	}
}

// tagForm matches what is known of a tag in a script.
var tagForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// signForm matches what the server takes for a sign that is written by its number: it stores another tag, or ends. A
// number that is computed stands here as 0; what it makes of a tag is seen when the script runs.
var signForm = regexp.MustCompile(`0x[0-9A-Z]{2}`)

// secretForm matches the names of passwords and keys, with what makers write before them, and numbers behind.
var secretForm = regexp.MustCompile(`(?i)passw|pwd|passphrase|secret|(key|psk)[0-9]*$|^pin[0-9]*$`)

// treeForm matches what follows the root. Brackets look for a value, and so show that a password was guessed.
var treeForm = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.([A-Za-z0-9_-]+|\*))*$`)

// tree refuses a path of ManagementServer, and what is no path.
func (c *checker) tree(at ast.Node, root, rest string) {
	first, _, _ := strings.Cut(rest, ".")
	switch {
	case first == "" || strings.Contains(first, "*"):
		c.refuse(at, "the path must name an object below %s", root)
	case strings.Contains(strings.ToLower(first), "managementserver"): // newer devices also say CWMPManagementServer
		c.refuse(at, "%s.%s is not allowed", root, first)
	case !treeForm.MatchString(rest):
		c.refuse(at, "the path has parts that are not allowed: names, numbers and * stand between its dots")
	}
}

// written gives the text of an expression as it stands in the script, up to what is not known before it runs; whole
// says that there is no such part. A number that is computed stands there as 0.
func (c *checker) written(e ast.Expression) (text string, whole bool) {
	if literal, is := e.(*ast.StringLiteral); is {
		return literal.Value.String(), true
	}
	if c.numeric(e) {
		return "0", true
	}
	switch e := e.(type) {
	case *ast.TemplateLiteral:
		for i, piece := range e.Elements {
			text += piece.Parsed.String()
			if i < len(e.Expressions) {
				more, all := c.written(e.Expressions[i])
				if text += more; !all {
					return text, false
				}
			}
		}
		return text, e.Tag == nil
	case *ast.BinaryExpression:
		if e.Operator != token.PLUS {
			return "", false
		}
		if text, whole = c.written(e.Left); !whole {
			return text, false
		}
		more, whole := c.written(e.Right)
		return text + more, whole
	}
	return "", false
}
