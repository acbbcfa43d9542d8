package compiler

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// defaultArchs are built where the manifest names none: Ampere, Hopper, and PTX for whatever comes later.
var defaultArchs = []string{"80", "90+PTX"}

// cudaPackages are the wheels that make a CUDA compiler, for the commands that the tool proposes.
var cudaPackages = []string{"nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-cuda-runtime", "nvidia-nvvm", "nvidia-cuda-cccl"}

// CUDA is a CUDA compiler: its program, the folder of its static runtime library, what tells it from any other, and its version.
type CUDA struct{ NVCC, Libraries, Identity, Version string }

var releasePattern = regexp.MustCompile(`release [0-9]+\.[0-9]+, V([0-9.]+)`)

// FindCUDA takes $NVCC if it is set, else the nvcc on PATH, else the one of the environment's compiler wheels. The
// toolkit is the version that the manifest wants, or a beginning of it.
func FindCUDA(ctx context.Context, env *pyenv.Env, getenv func(string) string, toolkit string) (*CUDA, error) {
	nvcc, err := locateNVCC(env, getenv)
	if err != nil {
		return nil, err
	}
	text, err := identity(ctx, []string{nvcc})
	if err != nil {
		return nil, err
	}
	release := releasePattern.FindStringSubmatch(text)
	if release == nil {
		return nil, fmt.Errorf("ask %s for its version: no release in %q", nvcc, text)
	}
	version := release[1]
	if toolkit != "" && !strings.HasPrefix(version+".", toolkit+".") {
		return nil, &pyenv.MissingError{Text: fmt.Sprintf("opcast.toml wants the CUDA toolkit %s, and %s is %s", toolkit, nvcc, version)}
	}
	libraries, err := findCudart(nvcc)
	if err != nil {
		return nil, &pyenv.MissingError{Text: err.Error(), Command: env.InstallCommand("nvidia-cuda-runtime")}
	}
	return &CUDA{nvcc, libraries, text, version}, nil
}

// Parts tells the programs that nvcc starts, and their libraries, from any others. It is empty if one of them is not in its toolkit.
func (c *CUDA) Parts() (text string) {
	real, err := filepath.EvalSymlinks(c.NVCC)
	if err != nil {
		return ""
	}
	for _, part := range []string{"bin/cudafe++", "bin/fatbinary", "bin/nvcc.profile", "bin/ptxas", "nvvm/bin/cicc", "nvvm/libdevice/*.bc"} {
		files, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(real)), part)) // only a wrong pattern is an error
		if len(files) == 0 {
			return ""
		}
		for _, file := range files {
			if digest, err := tree.FileDigest(file); err == nil {
				text += part + " " + digest + "\n"
			}
		}
	}
	return text
}

// Name is the compiler's version and its program.
func (c *CUDA) Name() string { return c.Version + ", " + c.NVCC }

func locateNVCC(env *pyenv.Env, getenv func(string) string) (string, error) {
	if named := getenv("NVCC"); named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return "", &pyenv.MissingError{Text: "no CUDA compiler: $NVCC names " + named + ", which is no program"}
		}
		return filepath.Abs(path)
	}
	if path, err := exec.LookPath("nvcc"); err == nil {
		return filepath.Abs(path)
	}
	if env.NVCC != "" {
		return env.NVCC, nil
	}
	return "", &pyenv.MissingError{
		Text:    "no CUDA compiler: $NVCC is not set, nvcc is not on PATH and " + env.Python + " lacks nvidia-cuda-nvcc",
		Command: env.InstallCommand(cudaPackages...),
	}
}

// findCudart returns the folder of libcudart_static.a in the toolkit of the compiler: toolkits and wheels differ in it.
func findCudart(nvcc string) (string, error) {
	real, err := filepath.EvalSymlinks(nvcc)
	if err != nil {
		return "", fmt.Errorf("find the CUDA toolkit of %s: %w", nvcc, err)
	}
	root := filepath.Dir(filepath.Dir(real))
	machine := map[string]string{"amd64": "x86_64-linux", "arm64": "sbsa-linux"}[runtime.GOARCH]
	for _, folder := range []string{"lib64", "lib", filepath.Join("targets", machine, "lib")} {
		folder = filepath.Join(root, folder)
		if _, err := os.Stat(filepath.Join(folder, "libcudart_static.a")); err == nil {
			return folder, nil
		}
	}
	return "", fmt.Errorf("the CUDA toolkit in %s has no libcudart_static.a", root)
}

// ArchVariable names the variable of the environment with the architectures to compile for instead of the manifest's, such as
// those of the machine's own GPU: separated by commas.
const ArchVariable = "OPCAST_CUDA_ARCH"

var archPattern = regexp.MustCompile(`^([0-9]{2,3}[af]?)(\+PTX)?$`)

// Archs are the CUDA architectures that a build compiles for.
func Archs(m *manifest.Manifest, getenv func(string) string) []string {
	if named := getenv(ArchVariable); named != "" {
		return strings.Split(named, ",")
	}
	return CUDAArchs(m)
}

// CUDAArchs are the architectures that the manifest names, or the default.
func CUDAArchs(m *manifest.Manifest) []string {
	if len(m.CUDA.Arch) > 0 {
		return m.CUDA.Arch
	}
	return defaultArchs
}

// Gencode turns architectures ("80", "90+PTX") into nvcc's options.
func Gencode(archs []string) (words []string, err error) {
	for _, a := range archs {
		parts := archPattern.FindStringSubmatch(a)
		if parts == nil {
			return nil, fmt.Errorf(`arch %q of opcast.toml or %s is no CUDA architecture: expected for example "80" or "90+PTX"`, a, ArchVariable)
		}
		words = append(words, "-gencode", fmt.Sprintf("arch=compute_%s,code=sm_%s", parts[1], parts[1]))
		if parts[2] != "" {
			words = append(words, "-gencode", fmt.Sprintf("arch=compute_%s,code=compute_%s", parts[1], parts[1]))
		}
	}
	return words, nil
}

// HostWords hands the host compiler's options through nvcc.
func HostWords(flags []string) (words []string) {
	for _, f := range flags {
		words = append(words, "-Xcompiler", f)
	}
	return words
}

// hostCompiler is the program that nvcc calls for host code, which must be one word, and the options that came with it.
// A launcher such as ccache stays outside.
func (c CXX) hostCompiler() (program string, options []string) {
	words := withoutLauncher(c.Words)
	return words[0], words[1:]
}

// withoutLauncher leaves out a program that only starts a compiler, or knows what it has made before.
func withoutLauncher(words []string) []string {
	if len(words) > 1 && slices.Contains([]string{"ccache", "distcc", "sccache"}, filepath.Base(words[0])) {
		return words[1:]
	}
	return words
}
