package archtest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestModule_CitationsLeadSomewhere(t *testing.T) {
	t.Parallel()
	found, err := CheckCitations(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}
