package postgres

import (
	"slices"
	"strings"
)

// tokenKind tells tokens of SQL apart.
type tokenKind int

// The kinds of tokens.
const (
	tokenEnd    tokenKind = iota // nothing is left
	tokenWord                    // a name or a keyword, in small letters
	tokenParam                   // $1
	tokenNumber                  // 12 or 1.5
	tokenText                    // 'text'
	tokenSign                    // an operator or a bracket
)

// token is a piece of SQL and where it stands in the text.
type token struct {
	kind     tokenKind
	text     string
	from, to int
}

// signs are the operators and brackets of a known meaning, the longer ones first.
var signs = []string{
	"::", "<=", ">=", "<>", "!=", "||", "(", ")", "[", "]", ",", ".", "=", "<", ">", "+", "-", "*",
}

// tokens splits SQL. It fails (ok is not set) at everything but plain names in small letters, parameters, numbers,
// simple texts and known signs: a comment, a name in quotes, or a text with escapes may mean anything.
func tokens(sql string) (list []token, ok bool) {
	for at := 0; ; {
		for at < len(sql) && strings.IndexByte(" \t\r\n", sql[at]) >= 0 {
			at++
		}
		if at == len(sql) {
			return append(list, token{tokenEnd, "", at, at}), true
		}
		t := nextToken(sql[at:])
		if t.kind == tokenEnd {
			return nil, false
		}
		t.from, t.to = at, at+len(t.text)
		at = t.to
		list = append(list, t)
	}
}

// nextToken reads the token with which SQL begins; tokenEnd = none that is known.
func nextToken(sql string) token {
	switch c := sql[0]; {
	case letter(c):
		return token{kind: tokenWord, text: span(sql, 1, func(c byte) bool { return letter(c) || digit(c) })}
	case digit(c):
		return token{kind: tokenNumber, text: span(sql, 1, func(c byte) bool { return digit(c) || c == '.' })}
	case c == '$':
		if number := span(sql, 1, digit); len(number) > 1 && len(number) < 7 && number[1] != '0' {
			return token{kind: tokenParam, text: number}
		}
	case c == '\'':
		if end := strings.IndexByte(sql[1:], '\''); end >= 0 && !strings.Contains(sql[:end+1], `\`) {
			return token{kind: tokenText, text: sql[:end+2]}
		}
	case strings.HasPrefix(sql, "--"):
	default:
		if i := slices.IndexFunc(signs, func(sign string) bool { return strings.HasPrefix(sql, sign) }); i >= 0 {
			return token{kind: tokenSign, text: signs[i]}
		}
	}
	return token{}
}

// span is the beginning of SQL of which all from an index on are of a kind.
func span(sql string, from int, of func(byte) bool) string {
	at := from
	for at < len(sql) && of(sql[at]) {
		at++
	}
	return sql[:at]
}

// letter reports whether a name may begin with an octet.
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c == '_' }

// digit reports whether an octet is a digit.
func digit(c byte) bool { return c >= '0' && c <= '9' }
