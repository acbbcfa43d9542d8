// Package cudadriver keeps arrays of calls in memory of a CUDA device, by the functions of its driver and without cgo. The
// driver may be that of an emulated device.
package cudadriver

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Driver is the first device.
type Driver struct {
	context    uintptr
	setCurrent func(context uintptr) int32
	alloc      func(memory *uintptr, bytes uintptr) int32
	free       func(memory uintptr) int32
	upload     func(to uintptr, from unsafe.Pointer, bytes uintptr) int32
	download   func(to unsafe.Pointer, from uintptr, bytes uintptr) int32
	wait       func() int32
}

// Open finds the driver and makes the primary context of the first device, as frameworks do.
func Open() (*Driver, error) {
	library, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW)
	if err != nil {
		return nil, fmt.Errorf("open the driver: %w", err)
	}
	d := &Driver{}
	var (
		start  func(flags uint32) int32
		find   func(device *int32, ordinal int32) int32
		retain func(context *uintptr, device int32) int32
		device int32
	)
	for name, function := range map[string]any{
		"cuInit": &start, "cuDeviceGet": &find, "cuDevicePrimaryCtxRetain": &retain, "cuCtxSetCurrent": &d.setCurrent,
		"cuMemAlloc_v2": &d.alloc, "cuMemFree_v2": &d.free, "cuMemcpyHtoD_v2": &d.upload, "cuMemcpyDtoH_v2": &d.download,
		"cuCtxSynchronize": &d.wait,
	} {
		address, err := purego.Dlsym(library, name)
		if err != nil {
			return nil, fmt.Errorf("open the driver: %w", err)
		}
		purego.RegisterFunc(function, address)
	}
	return d, errors.Join(failed("cuInit", start(0)), failed("cuDeviceGet", find(&device, 0)),
		failed("cuDevicePrimaryCtxRetain", retain(&d.context, device)))
}

func failed(function string, code int32) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: error %d of the driver", function, code)
}

// in does something while the context of the device is current. The thread has none before and afterwards, so that the
// library finds what a thread has that has never used the device.
func (d *Driver) in(do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := failed("cuCtxSetCurrent", d.setCurrent(d.context))
	if err == nil {
		err = do()
	}
	return errors.Join(err, failed("cuCtxSetCurrent", d.setCurrent(0)))
}

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
		err := failed("cuMemAlloc", m.driver.alloc(&h.memory, uintptr(len(buffer))))
		if err == nil {
			m.held[first] = h
			err = failed("cuMemcpyHtoD", m.driver.upload(h.memory, unsafe.Pointer(first), uintptr(len(buffer))))
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
		err := failed("cuCtxSynchronize", m.driver.wait())
		for first, h := range m.held {
			err = errors.Join(err, failed("cuMemcpyDtoH", m.driver.download(unsafe.Pointer(first), h.memory, uintptr(len(h.buffer)))),
				failed("cuMemFree", m.driver.free(h.memory)))
		}
		m.held = nil
		return err
	})
}

// pointer is an address outside of Go's memory.
func pointer(address uintptr) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), address) }
