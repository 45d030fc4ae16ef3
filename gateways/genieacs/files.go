package genieacs

import (
	"context"
	"net/http"
	"time"
)

// FirmwareImage is the type of files with firmware.
const FirmwareImage = "1 Firmware Upgrade Image"

// File is a file of the server, which devices fetch from its file server by its name.
type File struct {
	Name                       string
	Type                       string // such as FirmwareImage; a download of a file without one fails on the device
	OUI, ProductClass, Version string // the devices that it is for
	Size                       int64
	At                         time.Time // of its upload
}

// checkFile refuses names that a header, a path or a device could misunderstand.
func checkFile(name string) error {
	if name == "" || len(name) > 200 || !printableASCII(name) {
		return unfit("name of a file must be 1 to 200 printable characters of ASCII")
	}
	for _, c := range name {
		if c == '/' || c == '\\' || c == '"' {
			return unfit("name of a file must not have slashes and quotes")
		}
	}
	if name == "." || name == ".." {
		return unfit("name of a file must not be dots")
	}
	return nil
}

// printableASCII reports whether a text can be the value of a header.
func printableASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return text == "" || text[0] != ' ' && text[len(text)-1] != ' '
}

// check refuses a file whose metadata cannot be sent.
func (f File) check() error {
	if err := checkFile(f.Name); err != nil {
		return err
	}
	for _, text := range []string{f.Type, f.OUI, f.ProductClass, f.Version} {
		if len(text) > 200 || !printableASCII(text) {
			return unfit("metadata of a file must be at most 200 printable characters of ASCII")
		}
	}
	if f.Type == "" {
		return unfit("a file needs a type")
	}
	return nil
}

// PutFile uploads a file, in the place of one with its name. Both sides hold it in memory. Size and At of f are not
// used.
func (s *Server) PutFile(ctx context.Context, f File, content []byte) error {
	if err := f.check(); err != nil {
		return err
	}
	headers := map[string]string{"Content-Type": "application/octet-stream", "fileType": f.Type}
	for name, value := range map[string]string{"oui": f.OUI, "productClass": f.ProductClass, "version": f.Version} {
		if value != "" {
			headers[name] = value
		}
	}
	return s.done(s.send(ctx, call{
		operation: "put_file", method: http.MethodPut, path: "/files/" + segment(f.Name), body: content,
		headers: headers, timeout: 10 * s.timeout,
	}))
}

// DeleteFile takes a file away. It looks for the file first, because the server breaks off at one that it does not have
// (docs/facts/genieacs.md#observed). Fails: ErrUnknownFile.
func (s *Server) DeleteFile(ctx context.Context, name string) error {
	if err := checkFile(name); err != nil {
		return err
	}
	n, err := s.count(ctx, "count_files", selection{collection: "files", query: map[string]any{"_id": name}})
	switch {
	case err != nil:
		return err
	case n == 0:
		return ErrUnknownFile
	}
	r, err := s.send(ctx, call{
		operation: "delete_file", method: http.MethodDelete, path: "/files/" + segment(name),
	})
	if err == nil && r.status == http.StatusNotFound {
		return ErrUnknownFile
	}
	return s.done(r, err)
}

// wireFile is a file without its content, by the names that the server has for its fields.
type wireFile struct {
	ID       string    `json:"_id"`
	Length   int64     `json:"length"`
	Uploaded time.Time `json:"uploadDate"`
	Metadata struct {
		Type         string `json:"fileType"`
		OUI          string `json:"oui"`
		ProductClass string `json:"productClass"`
		Version      string `json:"version"`
	} `json:"metadata"`
}

// Files gives all files, by name, without their contents.
func (s *Server) Files(ctx context.Context) ([]File, error) {
	out := []File{}
	for {
		n := 0
		_, err := list(ctx, s, "list_files", selection{
			collection: "files", fields: []string{"_id", "length", "uploadDate", "metadata"}, skip: len(out),
			limit: maxPage,
		}, func(w wireFile) error {
			n++
			m := w.Metadata
			out = append(out, File{
				Name: w.ID, Type: m.Type, OUI: m.OUI, ProductClass: m.ProductClass, Version: m.Version, Size: w.Length,
				At: w.Uploaded.UTC(),
			})
			return nil
		})
		if err != nil || n < maxPage {
			return out, err
		}
	}
}
