package router

import (
	"strconv"
	"strings"
)

// matchQuery evaluates query words over a shown item, in postfix order; the results left on the stack are joined by
// AND.
func matchQuery(words []string, item Item) (bool, *Trap) {
	var stack []bool
	for _, word := range words {
		if ops, ok := strings.CutPrefix(word, "#"); ok {
			for _, op := range ops {
				var trap *Trap
				if stack, trap = operate(stack, op); trap != nil {
					return false, trap
				}
			}
			continue
		}
		stack = append(stack, matchWord(word, item))
	}
	for _, ok := range stack {
		if !ok {
			return false, nil
		}
	}
	return true, nil
}

// operate applies one of the operators !, | and & to the stack. Source: docs/facts/routeros.md#words-of-the-protocol.
func operate(stack []bool, op rune) ([]bool, *Trap) {
	n := len(stack)
	switch {
	case op == '!' && n >= 1:
		stack[n-1] = !stack[n-1]
		return stack, nil
	case op == '|' && n >= 2:
		return append(stack[:n-2], stack[n-2] || stack[n-1]), nil
	case op == '&' && n >= 2:
		return append(stack[:n-2], stack[n-2] && stack[n-1]), nil
	}
	return nil, refuse("invalid query")
}

// matchWord evaluates one word: name=value, name, -name, <name=value, >name=value. Numbers are compared as numbers.
func matchWord(word string, item Item) bool {
	if name, ok := strings.CutPrefix(word, "-"); ok {
		_, present := item[name]
		return !present
	}
	order := byte(0)
	if word != "" && (word[0] == '<' || word[0] == '>' || word[0] == '=') {
		order, word = word[0], word[1:]
	}
	name, want, compared := strings.Cut(word, "=")
	have, present := item[name]
	if !compared || !present {
		return present && !compared
	}
	if order != '<' && order != '>' {
		return have == want || have == "true" && want == "yes" || have == "false" && want == "no"
	}
	a, errA := strconv.ParseInt(have, 10, 64)
	b, errB := strconv.ParseInt(want, 10, 64)
	less, more := have < want, have > want
	if errA == nil && errB == nil {
		less, more = a < b, a > b
	}
	return order == '<' && less || order == '>' && more
}
