package acs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// storedFile is a file of the server.
type storedFile struct {
	name, kind, oui, class, version string
	content                         []byte
	at                              time.Time
}

// fields are the file as a document.
func (f *storedFile) fields() map[string]any {
	metadata := map[string]any{}
	for name, value := range map[string]string{
		"fileType": f.kind, "oui": f.oui, "productClass": f.class, "version": f.version,
	} {
		metadata[name] = nil
		if value != "" {
			metadata[name] = value
		}
	}
	return map[string]any{
		"_id": f.name, "length": float64(len(f.content)), "chunkSize": 261120.0, "uploadDate": f.at,
		"filename": f.name, "metadata": metadata,
	}
}

// putFile stores a file.
func putFile(x *exchange) {
	h := x.r.Header
	f := &storedFile{
		name: x.part[0], kind: h.Get("fileType"), oui: h.Get("oui"), class: h.Get("productClass"),
		version: h.Get("version"), content: x.body, at: x.s.clock.Now().Truncate(time.Millisecond),
	}
	x.s.mu.Lock()
	x.s.state.files[f.name] = f
	x.s.mu.Unlock()
	x.w.WriteHeader(http.StatusCreated)
}

// deleteFile takes a file away.
func deleteFile(x *exchange) {
	x.s.mu.Lock()
	_, ok := x.s.state.files[x.part[0]]
	delete(x.s.state.files, x.part[0])
	x.s.mu.Unlock()
	if !ok {
		x.text(http.StatusNotFound, "404 Not Found")
		return
	}
	x.w.WriteHeader(http.StatusOK)
}

// etag names a version of a file.
func (f *storedFile) etag() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s-%d-%d", f.name, f.at.UnixMilli(), len(f.content)))
	return hex.EncodeToString(sum[:16])
}

// matchesTag reports whether a header of tags has one.
func matchesTag(tag, header string) bool {
	for one := range strings.SplitSeq(header, ",") {
		one = strings.Trim(strings.TrimPrefix(strings.TrimSpace(one), "W/"), `"`)
		if one == "*" || one == tag {
			return true
		}
	}
	return false
}

// serveFile is the file server, to which devices come.
func (s *Simulator) serveFile(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		_, _ = io.WriteString(w, "405 Method Not Allowed")
		return
	}
	path, _, _ := strings.Cut(r.RequestURI, "?")
	name, err := url.PathUnescape(strings.TrimPrefix(path, "/"))
	if err != nil {
		panic(aborted)
	}
	s.mu.Lock()
	f := s.state.files[name]
	s.mu.Unlock()
	if f == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	status, from, to := f.answer(r.Header)
	length := len(f.content)
	switch status {
	case http.StatusPreconditionFailed:
		w.WriteHeader(status)
		return
	case http.StatusRequestedRangeNotSatisfiable:
		w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", length))
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(status)
		return
	}
	w.Header()["ETag"] = []string{f.etag()}
	w.Header().Set("Last-Modified", f.at.UTC().Format(http.TimeFormat))
	if status == http.StatusNotModified {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(to-from))
	w.Header().Set("Accept-Ranges", "bytes")
	if status == http.StatusPartialContent {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, length))
	}
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write(f.content[from:to])
	}
}

// rangeForm matches the ranges that the server knows.
var rangeForm = regexp.MustCompile(`^bytes=(\d*)-(\d*)$`)

// answer decides by the headers of a request which part of the file is sent, if any.
func (f *storedFile) answer(h http.Header) (status, from, to int) {
	status, to = http.StatusOK, len(f.content)
	modified := f.at.Truncate(time.Second)
	since := func(name string) (time.Time, bool) {
		at, err := http.ParseTime(h.Get(name))
		return at, err == nil
	}
	if v := h.Get("If-Match"); v != "" && !matchesTag(f.etag(), v) {
		status = http.StatusPreconditionFailed
	}
	if at, ok := since("If-Unmodified-Since"); ok && modified.After(at) {
		status = http.StatusPreconditionFailed
	}
	if v := h.Get("If-None-Match"); v != "" {
		if matchesTag(f.etag(), v) {
			status = http.StatusNotModified
		}
	} else if at, ok := since("If-Modified-Since"); ok && !modified.After(at) {
		status = http.StatusNotModified
	}
	if v := h.Get("Range"); v != "" && status == http.StatusOK {
		status, from, to = f.part(v)
		if v := h.Get("If-Range"); v != "" {
			at, dated := since("If-Range")
			if !matchesTag(f.etag(), v) && !(dated && !modified.After(at)) {
				return http.StatusOK, 0, len(f.content)
			}
		}
	}
	return status, from, to
}

// part reads a range.
func (f *storedFile) part(text string) (status, from, to int) {
	to = len(f.content)
	m := rangeForm.FindStringSubmatch(text)
	if m == nil || m[1] == "" && m[2] == "" {
		return http.StatusRequestedRangeNotSatisfiable, 0, 0
	}
	last, _ := strconv.Atoi(m[2])
	switch {
	case m[1] == "":
		from = len(f.content) - last
	default:
		from, _ = strconv.Atoi(m[1])
		if m[2] != "" {
			to = last + 1
		}
	}
	if from < 0 || from >= to || to > len(f.content) {
		return http.StatusRequestedRangeNotSatisfiable, 0, 0
	}
	return http.StatusPartialContent, from, to
}
