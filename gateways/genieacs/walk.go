package genieacs

import (
	"context"
	"errors"
	"maps"
	"unicode/utf8"
)

// walk reads all documents of a selection, page by page, in the order of their ids. Whoever calls the server makes
// documents: so pages go by the ids as they are, also by those that are none of a device, and one that is too large, or
// at which the server breaks off, is passed over. A document that comes or goes meanwhile moves no other one out of its
// page.
type walk struct {
	*Server
	operation string
	sel       selection // its limit is that of the largest page
	left      int       // documents that were left out
}

// loggedLeft bounds the lines about documents that were left out in one reading: anybody can make many.
const loggedLeft = 10

// maxAfter bounds the id behind which a page begins, in bytes: it is part of an address. An id of a device, and of a
// fault of one, is shorter.
const maxAfter = 1 << 10

// behind is the text behind which the page after an id begins. What has the same beginning as one that is too long is
// no id either.
func behind(id string) string {
	if len(id) <= maxAfter {
		return id
	}
	end := maxAfter
	for !utf8.RuneStart(id[end]) {
		end--
	}
	return id[:end] + string(utf8.MaxRune)
}

// all hands over each document; take reports whether it could be used. What came of a page that breaks off counts; what
// is behind it is read by smaller pages, down to one document.
func (w *walk) all(ctx context.Context, after string, take func(document) (bool, error)) error {
	defer func() {
		if w.left > loggedLeft {
			w.log.WarnContext(ctx, "documents of the cpe server were left out", "collection", w.sel.collection,
				"documents", w.left)
		}
	}()
	for limit := w.sel.limit; ; {
		p, err := w.page(ctx, after, limit, take)
		switch {
		case err != nil:
			return err
		case p.broken && p.has == 0 && limit == 1:
			if p, err = w.passOver(ctx, after); err != nil || p.has == 0 {
				return err
			}
		case p.broken:
			limit = max(limit/2, 1)
		case p.has < limit:
			return nil
		default: // a whole page: the next one may be larger again
			limit = min(2*limit, w.sel.limit)
		}
		if p.has > 0 {
			if behind(p.last) == after || p.last == "" {
				return unavailable(errors.New("a list does not go on behind a document"))
			}
			after = behind(p.last)
		}
	}
}

// page tells how much of one was read.
type page struct {
	has    int    // documents that came whole
	last   string // id of the last one of them
	broken bool   // the rest did not come, and the server is there
}

// page reads one page behind an id.
func (w *walk) page(
	ctx context.Context, after string, limit int, take func(document) (bool, error),
) (p page, err error) {
	var taken error
	_, err = list(ctx, w.Server, w.operation, w.sel.behind(after, limit), func(d document) error {
		p.has++
		d.field("_id", &p.last)
		var fit bool
		if fit, taken = take(d); taken == nil && !fit {
			w.leaveOut(ctx, p.last, "it is none of a device")
		}
		return taken
	})
	if taken == nil && errors.Is(err, ErrCrashed) && ctx.Err() == nil {
		p.broken, err = true, nil
	}
	return p, err
}

// passOver finds the id of the document behind another one, without the rest of it.
func (w *walk) passOver(ctx context.Context, after string) (p page, err error) {
	sel := w.sel.behind(after, 1)
	sel.fields = []string{"_id"}
	_, err = list(ctx, w.Server, w.operation, sel, func(d document) error {
		p.has++
		d.field("_id", &p.last)
		w.leaveOut(ctx, p.last, "it is too large, or the server breaks off at it")
		return nil
	})
	return p, err
}

// leaveOut logs that a document is not read, unless many were logged.
func (w *walk) leaveOut(ctx context.Context, id, why string) {
	if w.left++; w.left <= loggedLeft {
		w.log.WarnContext(ctx, "a document of the cpe server is left out", "collection", w.sel.collection,
			"id", clean(id), "why", why)
	}
}

// behind is a selection of what is behind an id, "" for all.
func (s selection) behind(after string, limit int) selection {
	s.limit = limit
	if after != "" {
		s.query = maps.Clone(s.query)
		if s.query == nil {
			s.query = map[string]any{}
		}
		s.query["_id"] = map[string]any{"$gt": after}
	}
	return s
}
