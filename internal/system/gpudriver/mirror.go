package gpudriver

import (
	"errors"
	"unsafe"
)

// Mirror is for the arrays of one call; nil without a driver.
func (d *Driver) Mirror() *Mirror {
	if d == nil {
		return nil
	}
	return &Mirror{d, map[*byte]held{}}
}

// Place is where an array over a buffer lies: on the device, or where the buffer is if the mirror is nil.
func (m *Mirror) Place(buffer []byte) (unsafe.Pointer, error) {
	switch {
	case len(buffer) == 0:
		return nil, nil
	case m == nil:
		return unsafe.Pointer(&buffer[0]), nil
	}
	return m.of(buffer)
}

// Mirror is memory of the device that holds what buffers of the host hold, for the time of a call.
type Mirror struct {
	driver *Driver
	held   map[*byte]held
}

type held struct {
	buffer []byte
	memory uintptr
}

// of is the memory of the device for a buffer: one for all arrays that share it.
func (m *Mirror) of(buffer []byte) (unsafe.Pointer, error) {
	first := &buffer[0]
	if have, ok := m.held[first]; ok {
		return pointer(have.memory), nil
	}
	h := held{buffer: buffer}
	err := m.driver.in(func() error {
		err := failed("allocation", m.driver.alloc(&h.memory, uintptr(len(buffer))))
		if err == nil {
			m.held[first] = h
			err = failed("copy to the device", m.driver.upload(h.memory, unsafe.Pointer(first), uintptr(len(buffer))))
		}
		return err
	})
	return pointer(h.memory), err
}

// Close waits for the device, copies its memory back into the buffers, and frees it.
func (m *Mirror) Close() error {
	if m == nil || len(m.held) == 0 {
		return nil
	}
	return m.driver.in(func() error {
		err := failed("wait", m.driver.wait())
		for first, h := range m.held {
			err = errors.Join(err,
				failed("copy from the device", m.driver.download(unsafe.Pointer(first), h.memory, uintptr(len(h.buffer)))),
				failed("release", m.driver.free(h.memory)))
		}
		m.held = nil
		return err
	})
}

// pointer is an address outside of Go's memory.
func pointer(address uintptr) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), address) }
