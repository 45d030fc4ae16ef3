package exportscases

// partBytes is the size of a part of a file.
const partBytes = 1 << 20

// partWriter cuts what is written into parts and stores each when it is full.
type partWriter struct {
	put   func(part int, plain []byte) error
	block []byte
	parts int
	bytes int64
}

// Write implements io.Writer.
func (w *partWriter) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		n := min(len(p), partBytes-len(w.block))
		w.block, p = append(w.block, p[:n]...), p[n:]
		if len(w.block) == partBytes {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return written, nil
}

// flush stores what is left.
func (w *partWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	if err := w.put(w.parts, w.block); err != nil {
		return err
	}
	w.parts++
	w.bytes += int64(len(w.block))
	w.block = w.block[:0]
	return nil
}
