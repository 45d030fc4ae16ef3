// Package placename gives a folder on a disk a name among those of all programs of the platform.
package placename

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// File is the name of the file in the folder that has the folder's name. Who removes it gives the folder a new one.
const File = "place"

// Of gives the name of a folder, and makes one when there is none. It tells people the machine and the path, and stays
// the same when these change, as they do in a container; two machines of one name have two places. On a disk that takes
// no file the name holds until the end of the program, with a line in the log. Only whoever has the folder for itself
// may call it.
func Of(dir string, logger *slog.Logger) string {
	file := filepath.Join(dir, File)
	name, err := os.ReadFile(file) //nolint:gosec // of the program's own
	if len(name) > 0 {
		return string(name)
	}
	host, hostless := os.Hostname()
	if hostless != nil {
		host = "unknown"
	}
	path, pathless := filepath.Abs(dir)
	if pathless != nil {
		path = dir
	}
	fresh := fmt.Sprintf("%s:%s %s", host, path, uuid.NewString())
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.WriteFile(file, []byte(fresh), 0o600)
	}
	if err != nil {
		logger.Warn("folder has a name for this start alone", "folder", dir, "error", err)
	}
	return fresh
}
