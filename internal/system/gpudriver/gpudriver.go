// Package gpudriver keeps arrays of calls in memory of a GPU, by the functions of its vendor and without cgo. The driver may be that
// of an emulated device.
package gpudriver

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Driver is the first device.
type Driver struct {
	enter, leave func() error
	alloc        func(memory *uintptr, bytes uintptr) int32
	free         func(memory uintptr) int32
	upload       func(to uintptr, from unsafe.Pointer, bytes uintptr) int32
	download     func(to unsafe.Pointer, from uintptr, bytes uintptr) int32
	wait         func() int32
}

// vendor is how the maker of a GPU calls its library and what is used of it.
type vendor struct {
	// libraries are looked for in this order.
	libraries []string
	// start makes the functions that choose the first device in a thread, and undo that.
	start func(library uintptr) (enter, leave func() error, err error)
	// alloc and the others are the names of functions.
	alloc, free, upload, download, wait string
}

// vendors are those of GPUs by the kind of their devices.
var vendors = map[string]vendor{
	"cuda": {
		libraries: []string{"libcuda.so.1"}, start: startCUDA,
		alloc: "cuMemAlloc_v2", free: "cuMemFree_v2", upload: "cuMemcpyHtoD_v2", download: "cuMemcpyDtoH_v2", wait: "cuCtxSynchronize",
	},
	"rocm": {
		libraries: []string{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"}, start: startHIP,
		alloc: "hipMalloc", free: "hipFree", upload: "hipMemcpyHtoD", download: "hipMemcpyDtoH", wait: "hipDeviceSynchronize",
	},
}

// Open finds the driver of a kind of devices and the first of them.
func Open(kind string) (*Driver, error) {
	v, known := vendors[kind]
	if !known {
		return nil, fmt.Errorf("open the driver: nobody makes devices of the kind %q", kind)
	}
	library, err := open(v.libraries)
	if err != nil {
		return nil, err
	}
	d := &Driver{}
	if d.enter, d.leave, err = v.start(library); err != nil {
		return nil, err
	}
	return d, find(library, map[string]any{v.alloc: &d.alloc, v.free: &d.free, v.upload: &d.upload, v.download: &d.download, v.wait: &d.wait})
}

// open opens the first of some libraries that is there.
func open(names []string) (library uintptr, err error) {
	var errs []error
	for _, name := range names {
		library, err := purego.Dlopen(name, purego.RTLD_NOW)
		if err == nil {
			return library, nil
		}
		errs = append(errs, err)
	}
	return 0, fmt.Errorf("open the driver: %w", errors.Join(errs...))
}

// find fills in functions by their names.
func find(library uintptr, functions map[string]any) error {
	for name, function := range functions {
		address, err := purego.Dlsym(library, name)
		if err != nil {
			return fmt.Errorf("open the driver: %w", err)
		}
		purego.RegisterFunc(function, address)
	}
	return nil
}

// startCUDA makes the primary context of the first device, as frameworks do. A thread has none beside calls, so that the library
// finds what a thread has that has never used the device.
func startCUDA(library uintptr) (enter, leave func() error, err error) {
	var (
		start      func(flags uint32) int32
		get        func(device *int32, ordinal int32) int32
		retain     func(context *uintptr, device int32) int32
		setCurrent func(context uintptr) int32
		device     int32
		context    uintptr
	)
	err = find(library, map[string]any{
		"cuInit": &start, "cuDeviceGet": &get, "cuDevicePrimaryCtxRetain": &retain, "cuCtxSetCurrent": &setCurrent,
	})
	if err != nil {
		return nil, nil, err
	}
	use := func(context uintptr) error { return failed("cuCtxSetCurrent", setCurrent(context)) }
	err = errors.Join(failed("cuInit", start(0)), failed("cuDeviceGet", get(&device, 0)),
		failed("cuDevicePrimaryCtxRetain", retain(&context, device)))
	return func() error { return use(context) }, func() error { return use(0) }, err
}

// startHIP sets the first device, which each thread has from the beginning.
func startHIP(library uintptr) (enter, leave func() error, err error) {
	var (
		start func(flags uint32) int32
		set   func(device int32) int32
	)
	if err := find(library, map[string]any{"hipInit": &start, "hipSetDevice": &set}); err != nil {
		return nil, nil, err
	}
	nothing := func() error { return nil }
	return func() error { return failed("hipSetDevice", set(0)) }, nothing, failed("hipInit", start(0))
}

func failed(function string, code int32) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: error %d of the driver", function, code)
}

// in does something in a thread that has the device.
func (d *Driver) in(do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := d.enter()
	if err == nil {
		err = do()
	}
	return errors.Join(err, d.leave())
}
