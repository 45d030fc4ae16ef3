package main

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// The tests of the example package notice most mutants; those that they do not notice are listed here.
func TestMutants_SurviveWhereNoTestLooks(t *testing.T) {
	t.Parallel()
	packages, err := list("./testdata/till")
	if err != nil || len(packages) != 1 {
		t.Fatalf("packages %v, %v", packages, err)
	}
	mutants, files, err := instrument(packages[0])
	if err != nil {
		t.Fatal(err)
	}
	program, err := compile(packages[0], files)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(program.remove)
	killed, err := program.runAll(mutants, 2)
	if err != nil {
		t.Fatal(err)
	}
	var survivors []string
	for i, m := range mutants {
		if !killed[i] {
			survivors = append(survivors, fmt.Sprintf("%s: %s", m.kind, m.text))
		}
	}
	want := []string{
		"field left out: Owner: owner",
		"boundary: t.Coins >= 100",
		"clause left out: !t.Open",
		`returns zero: return "empty"`,
	}
	if got := strings.Join(survivors, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("survivors:\n%s\nof %d mutants", got, len(mutants))
	}
}

func TestOptions_LeaveOutTheMutantsOfOtherFiles(t *testing.T) {
	t.Parallel()
	in := func(file string) mutant { return mutant{place: token.Position{Filename: "/code/till/" + file}} }
	all := []mutant{in("till.go"), in("untill.go"), in("coins.go"), in("till.go")}
	if got := (options{file: "till.go"}).chosen(slices.Clone(all)); !slices.Equal(got, []mutant{all[0], all[3]}) {
		t.Errorf("of one file: %v", got)
	}
	if got := (options{}).chosen(slices.Clone(all)); !slices.Equal(got, all) {
		t.Errorf("of all: %v", got)
	}
}
