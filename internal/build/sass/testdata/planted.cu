// Kernels for TestPlanted: one is as it should be, each other one has something slow in its hot
// loop.

__global__ void Vectors(const float4* x, float4* y, long n) {
#pragma unroll 1
  for (long i = blockIdx.x * 256L + threadIdx.x; i < n; i += 256L * gridDim.x) {
    float4 v = x[i];
    v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;
    y[i] = v;
  }
}

// The compiler cannot know whether the numbers lie in shared memory.
__global__ void Generic(const float* x, float* y, long n) {
  __shared__ float table[256];
  table[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
#pragma unroll 1
  for (long i = threadIdx.x; i < n; i += 256) {
    const float* from = i % 3 == 0 ? table + threadIdx.x : x + i;
    y[i] = *from + 1;
  }
}

__global__ void Double(const float4* x, float4* y, long n, double by) {
#pragma unroll 1
  for (long i = blockIdx.x * 256L + threadIdx.x; i < n; i += 256L * gridDim.x) {
    float4 v = x[i];
    v.x = float(v.x * by);
    y[i] = v;
  }
}

__global__ void Bytes(const unsigned char* x, float* y, long n) {
#pragma unroll 1
  for (long i = blockIdx.x * 256L + threadIdx.x; i < n; i += 256L * gridDim.x) y[i] = x[i] * 0.5f;
}

__global__ void Division(const float* x, float* y, long n, long by) {
#pragma unroll 1
  for (long i = blockIdx.x * 256L + threadIdx.x; i < n; i += 256L * gridDim.x) y[i] = x[i / by];
}

// Vectors first and what they leave one by one: the second loop is not hot.
__global__ void Rest(const float* x, float* y, int n) {
  const int vectors = n / 4;
#pragma unroll 1
  for (int i = threadIdx.x; i < vectors; i += 256) {
    float4 v = reinterpret_cast<const float4*>(x)[i];
    v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;
    reinterpret_cast<float4*>(y)[i] = v;
  }
#pragma unroll 1
  for (int i = 4 * vectors + threadIdx.x; i < n; i += 256) y[i] = x[i] * 2;
}
