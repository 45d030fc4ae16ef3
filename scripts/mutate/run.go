package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// variable names the environment variable with the id of the mutant to apply; 0 applies none.
const variable = "LASTMILE_MUTANT"

// helpers is the file that is added to the package under test.
const helpers = `package %s

import (
	"os"
	"strconv"
)

var mutantID, _ = strconv.Atoi(os.Getenv("` + variable + `"))

func mutantIs(id int) bool { return id == mutantID }

func mutantZero[T any](id int, value T) T {
	if id == mutantID {
		return *new(T)
	}
	return value
}

func mutantOf[T any](id int, changed func() T, value T) T {
	if id == mutantID {
		return changed()
	}
	return value
}
`

// program is the test program of a package with all its mutants.
type program struct {
	folder string // temporary
	path   string
	dir    string   // where the tests run
	args   []string // of every run
	first  []string // flags of a quick run that comes before the whole one; nil = there is none
}

// remove deletes the program.
func (p program) remove() { _ = os.RemoveAll(p.folder) }

// compile builds the test program from the changed text of the package's files, by path.
func compile(p pkg, files map[string][]byte) (program, error) {
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return program{}, err
	}
	out := program{folder: folder, path: filepath.Join(folder, "tests"), dir: p.Dir, args: []string{"-test.failfast"}}
	if p.usesRapid() {
		// A failing example says enough unshrunk: the search for a smaller one takes up to half a minute.
		out.args = append(out.args, "-rapid.nofailfile", "-rapid.shrinktime=0s")
	}
	overlay := map[string]string{}
	add := func(path string, text []byte) error {
		copied := filepath.Join(folder, strconv.Itoa(len(overlay))+".go")
		overlay[path] = copied
		return os.WriteFile(copied, text, 0o600)
	}
	for path, text := range files {
		if err := add(path, text); err != nil {
			return out, err
		}
	}
	if err := add(filepath.Join(p.Dir, "mutants_added.go"), fmt.Appendf(nil, helpers, p.Name)); err != nil {
		return out, err
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return out, err
	}
	list := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return out, err
	}
	_, err = goCommand("test", "-vet=off", "-overlay", list, "-c", "-o", out.path, p.ImportPath)
	return out, err
}

// runAll tries every mutant and reports which of them a test noticed. It fails when the tests fail without any mutant.
func (p program) runAll(mutants []mutant, workers int) ([]bool, error) {
	began := time.Now()
	if out, err := p.run(0, nil, 10*time.Minute); err != nil {
		return nil, fmt.Errorf("the tests fail without a change: %w\n%s", err, out)
	}
	limit := max(10*time.Second, 10*time.Since(began))
	killed := make([]bool, len(mutants))
	queue := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range queue {
				killed[i] = p.kills(mutants[i].id, limit)
			}
		})
	}
	for i := range mutants {
		queue <- i
	}
	close(queue)
	group.Wait()
	return killed, nil
}

// kills reports whether a test notices the mutant, in the quick run or in the whole one.
func (p program) kills(id int, limit time.Duration) bool {
	if len(p.first) > 0 {
		if _, err := p.run(id, p.first, limit); err != nil {
			return true
		}
	}
	_, err := p.run(id, nil, limit)
	return err != nil
}

// run runs the tests with one mutant and further flags. A program that exceeds the limit is killed, which is an error
// too.
func (p program) run(id int, flags []string, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, slices.Concat(p.args, flags)...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), variable+"="+strconv.Itoa(id))
	return cmd.CombinedOutput()
}
