package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// misspelt is how many letters a name may differ from one of ours to be taken for it.
const misspelt = 2

// othersVariables are those of other programs whose names begin like ours.
var othersVariables = []string{"HTTP_PROXY", "LOG_NAMESPACE"}

// unknownVariables describes, sorted, the variables of an environment that look like ours and are none: they begin like
// a group of ours, such as PAYMENT_, or differ from one by a slip. The program runs without what they were meant to
// say.
func unknownVariables(environ []string) []string {
	names, groups := variableNames()
	var out []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if slices.Contains(names, name) || slices.Contains(othersVariables, name) || name != strings.ToUpper(name) {
			continue
		}
		near, slips := nearest(name, names)
		group, _, grouped := strings.Cut(name, "_")
		switch {
		case slips <= misspelt && len(name) > 2*misspelt:
			out = append(out, fmt.Sprintf("%s is not a variable of this program; is %s meant?", name, near))
		case grouped && groups[group]:
			out = append(out, name+" is not a variable of this program")
		}
	}
	slices.Sort(out)
	return out
}

// variableNames lists the variables of the configuration, and the first words of those that have several.
func variableNames() (names []string, groups map[string]bool) {
	groups = map[string]bool{}
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("env"), ",")
		names = append(names, name)
		if group, _, grouped := strings.Cut(name, "_"); grouped {
			groups[group] = true
		}
	}
	return names, groups
}

// nearest finds the name with the fewest slips.
func nearest(name string, names []string) (near string, slips int) {
	slips = len(name) + misspelt
	for _, n := range names {
		if d := distance(name, n); d < slips {
			near, slips = n, d
		}
	}
	return near, slips
}

// distance is the number of letters to insert, delete or replace to make one word of another (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
